#![allow(missing_docs)]
use roadwright_scenario::*;
fn main(){ let s=file::load(std::env::args().nth(1).unwrap().as_ref()).unwrap();
 let l=junction::layout(s.network(), s.about().driving_side); let g=lane_graph::LaneGraph::new(&s,&l);
 for (i,st) in g.strips().iter().enumerate(){ let e=st.line.pose(st.length()); for &n in &st.successors { let b=g.strip(n).line.pose(0.0); let h=roadwright_geometry::math::wrap_angle(b.heading-e.heading); if h.abs()>1.0 { println!("{i} {:?} -> {n} {:?} turn {h:.2}",st.kind,g.strip(n).kind);
  if let lane_graph::StripKind::Connection{junction,path,..}=g.strip(n).kind { let j=&l.junctions[junction as usize]; println!("   nodes {:?} flags {:?}",j.nodes,j.flags); for leg in &j.legs { let r=s.network().road(leg.road).unwrap(); println!("     {:?} {:?} trim {:.2} len {:.2} lanes {:?} edges {:?} pose {:?}",leg.road,leg.end,leg.trim,r.length(),r.lane_sections[0].lanes.iter().map(|l|l.id).collect::<Vec<_>>(),r.edges(0.0), if leg.end==RoadEnd::Start {r.reference_line.start()} else {r.reference_line.end()}); } println!("   corners {:?}",j.corners); println!("   {:?}", j.paths[path as usize].curve.as_ref().map(|c|(c.start(),c.end(),c.segments().to_vec()))); } } } }
}
