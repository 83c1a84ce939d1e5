//! Engines and wheels of agents on levels that model them.

use super::{Bodies, Motion};
use crate::records::AgentIndex;
use crate::snapshot::{MechanicsRecord, WheelRecord};
use crate::vehicle_type::VehicleTypes;
use roadwright_geometry::DVec2;
use roadwright_scenario::DynamicsLevel;
use roadwright_vehicle::DriveReading;

impl Bodies<'_> {
    /// Returns the state of an agent's engine and wheels; `None` on levels that model neither.
    pub(crate) fn mechanics(
        &self,
        agent: AgentIndex,
        types: &VehicleTypes,
    ) -> Option<MechanicsRecord> {
        let who = &self.agents.identity[agent.index()];
        let record = |drive: Option<DriveReading>, wheels: Vec<WheelRecord>| MechanicsRecord {
            agent: who.id,
            drive,
            wheels,
            shape: None,
        };
        match who.level {
            DynamicsLevel::Lane | DynamicsLevel::OneTrack | DynamicsLevel::Sliding => None,
            DynamicsLevel::DynamicOneTrack => {
                let train = types.drive_train(who.vehicle_type)?;
                let Motion { speed, .. } = self.agents.motion[agent.index()];
                let state = self.dynamics.dynamic_one_track[agent.index()].drive();
                Some(record(Some(train.reading(state, speed)), Vec::new()))
            }
            DynamicsLevel::Rigid => {
                let car = self.dynamics.rigid.car(agent)?;
                let model = types.rigid(who.vehicle_type);
                let train = model.train.as_ref();
                let drive = train.map(|train| train.reading(&car.drive, car.driven_speed(model)));
                let wheels = car.wheels.iter().zip(&car.loads).zip(&model.wheels);
                let wheels = wheels.map(|((wheel, &load), built)| WheelRecord {
                    place: DVec2::new(built.contact.x + model.rear, built.contact.y),
                    radius: model.radius,
                    steering: wheel.steering,
                    travel: wheel.travel,
                    load,
                    slip_ratio: wheel.slip_ratio,
                    slip_angle: wheel.slip_angle,
                    spin: wheel.spin,
                });
                let shape = types.rigid_shape(who.vehicle_type);
                Some(MechanicsRecord {
                    shape: Some(shape.clone()),
                    ..record(drive, wheels.collect())
                })
            }
        }
    }
}
