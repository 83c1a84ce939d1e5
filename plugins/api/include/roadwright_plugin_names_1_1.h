/* Names of interface 1.0 and 1.1 that later versions have renamed. Include this header after
 * roadwright_plugin.h to compile sources of those versions unchanged:
 *
 *   cc -include roadwright_plugin.h -include roadwright_plugin_names_1_1.h -c old_plugin.c
 *
 * The names are macros, so identical names in your own code are renamed as well, consistently.
 *
 * Licensed under MIT or Apache-2.0, at your choice. */
#ifndef ROADWRIGHT_PLUGIN_NAMES_1_1_H
#define ROADWRIGHT_PLUGIN_NAMES_1_1_H

#ifndef ROADWRIGHT_PLUGIN_H
#error "include roadwright_plugin.h before roadwright_plugin_names_1_1.h"
#endif

/* Types and constants. */
#define rw_strip rw_lanelet
#define RW_NO_STRIP RW_NO_LANELET
#define RW_STRIP_BUS_ONLY RW_LANELET_BUS_ONLY
#define RW_STRIP_CONNECTION RW_LANELET_CONNECTION
#define RW_STRIP_NO_THROUGH RW_LANELET_NO_THROUGH
#define RW_STRIP_CLOSED RW_LANELET_CLOSED
#define RW_STRIP_NO_BUSES RW_LANELET_NO_BUSES

/* Fields of rw_planner_input, rw_roads and rw_batch. */
#define strip lanelet
#define goal_strip goal_lanelet
#define strip_count lanelet_count
#define strips lanelets
#define slots agent_indices

#endif /* ROADWRIGHT_PLUGIN_NAMES_1_1_H */
