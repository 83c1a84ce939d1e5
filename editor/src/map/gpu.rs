//! Draws the map with egui's wgpu renderer. Triangles stay in buffers, and only the view changes.

use super::instances::{Instances, UnitShape};
use super::mesh::{Ink, Mesh};
use super::paint::{Figures, Frame, Part};
use eframe::egui_wgpu::{self, CallbackResources, CallbackTrait, ScreenDescriptor, wgpu};
use egui::{PaintCallbackInfo, Rect, Shape};
use roadwright_geometry::DVec2;
use roadwright_render::figure::Figure;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use wgpu::util::DeviceExt;

/// Number of frames for which an unused buffer is kept (a few seconds), in case the user pans back.
const KEPT_FRAMES: u64 = 240;

// Colours are premultiplied sRGB bytes. Egui blends in sRGB if the window has a plain format, and `shown`
// leaves them unchanged. An sRGB format converts the shader's output, so `shown` then makes them linear. It
// does so with the straight colour, because the curve is not proportional.
const SHADER: &str = "
struct View { metres: vec2<f32>, pixels: vec2<f32>, linear: vec4<f32> };
@group(0) @binding(0) var<uniform> view: View;
struct Out { @builtin(position) at: vec4<f32>, @location(0) color: vec4<f32> };

fn shown(color: vec4<f32>) -> vec4<f32> {
    if (view.linear.x < 0.5) { return color; }
    let straight = color.rgb / max(color.a, 0.0001);
    let low = straight / 12.92;
    let high = pow((straight + vec3<f32>(0.055)) / 1.055, vec3<f32>(2.4));
    let linear = select(high, low, straight <= vec3<f32>(0.04045));
    return vec4<f32>(linear * color.a, color.a);
}

@vertex fn triangle(
    @location(0) place: vec2<f32>, @location(1) shift: vec2<f32>, @location(2) color: vec4<f32>,
    @location(3) origin: vec3<f32>,
) -> Out {
    let at = (origin.xy + place) * view.metres + shift * view.pixels;
    return Out(vec4<f32>(at, 0.0, 1.0), shown(color) * origin.z);
}

@vertex fn instance(
    @location(0) corner: vec2<f32>, @location(1) shift: vec2<f32>, @location(2) own: vec4<f32>,
    @location(3) origin: vec3<f32>,
    @location(4) place: vec2<f32>, @location(5) front: vec2<f32>, @location(6) half_width: f32,
    @location(7) color: vec4<f32>,
) -> Out {
    let left = vec2<f32>(-front.y, front.x) / max(length(front), 0.000001) * half_width;
    let world = origin.xy + place + corner.x * front + corner.y * left + half_width * shift;
    var c = own;
    if (own.a == 0.0) { c = color; }
    return Out(vec4<f32>(world * view.metres, 0.0, 1.0), shown(c));
}

@fragment fn paint(in: Out) -> @location(0) vec4<f32> { return in.color; }
";

/// Returns callbacks that hand a frame to the renderer: the part below names, and the part above them.
pub(super) fn shapes(context: &egui::Context, rect: Rect, frame: Frame) -> [Shape; 2] {
    let drawn = Arc::<Mutex<Drawn>>::default();
    let below = Below {
        frame,
        rect,
        pixels_per_point: context.pixels_per_point(),
        drawn: drawn.clone(),
    };
    let below = egui_wgpu::Callback::new_paint_callback(rect, below);
    let above = egui_wgpu::Callback::new_paint_callback(rect, Above { drawn });
    [below, above].map(Shape::Callback)
}

/// A callback that prepares the whole frame and draws its lower part.
struct Below {
    frame: Frame,
    rect: Rect,
    pixels_per_point: f32,
    drawn: Arc<Mutex<Drawn>>,
}

/// A callback that draws the upper part.
struct Above {
    drawn: Arc<Mutex<Drawn>>,
}

/// Draw calls that `prepare` creates for `paint`.
#[derive(Default)]
struct Drawn {
    draws: Vec<Draw>,
    /// Number of draw calls that belong to the lower part.
    below: usize,
}

/// One draw call.
struct Draw {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    /// Byte offset of the mesh's origin in the buffer of origins.
    origin: u64,
    range: std::ops::Range<u32>,
    /// Buffer of the instances, index of the first instance to draw, and number of instances to
    /// draw.
    instances: Option<(wgpu::Buffer, usize, u32)>,
}

struct Buffers {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    last_frame: u64,
}

/// Vertices and indices of a figure, and the number of indices.
type Unit = (wgpu::Buffer, wgpu::Buffer, u32);

/// Resources that the renderer keeps between frames: pipelines and buffers.
struct Resources {
    triangles: wgpu::RenderPipeline,
    instances: wgpu::RenderPipeline,
    view: wgpu::Buffer,
    group: wgpu::BindGroup,
    origins: wgpu::Buffer,
    origin_count: usize,
    meshes: HashMap<u64, Buffers>,
    lists: HashMap<u64, (wgpu::Buffer, u64)>,
    figures: HashMap<(Figure, Ink), Unit>,
    linear: bool,
    frame: u64,
}

/// Size of an origin in bytes: a position, and the opacity (0 to 1) of the mesh drawn there.
const ORIGIN: u64 = 12;

/// Initial capacity of the buffer of origins, which grows as needed.
const FIRST_ORIGINS: usize = 8192;

fn origin_buffer(device: &wgpu::Device, count: usize) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("map origins"),
        size: ORIGIN * count as u64,
        usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

/// Sets up the pipelines once, for the format of the window.
pub(crate) fn set_up(state: &egui_wgpu::RenderState) {
    let resources = Resources::new(&state.device, state.target_format);
    state.renderer.write().callback_resources.insert(resources);
}

fn buffer(device: &wgpu::Device, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("map"),
        // wgpu does not accept an empty buffer.
        contents: if contents.is_empty() {
            &[0; 4]
        } else {
            contents
        },
        usage,
    })
}

/// Creates the uniform for the view: its layout, its buffer of eight floats, and its bind group.
fn view_uniform(device: &wgpu::Device) -> (wgpu::BindGroupLayout, wgpu::Buffer, wgpu::BindGroup) {
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("map view"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::VERTEX,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        }],
    });
    let view = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("map view"),
        size: 32,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("map view"),
        layout: &layout,
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: view.as_entire_binding(),
        }],
    });
    (layout, view, group)
}

impl Resources {
    fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("map"),
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        let (layout, view, group) = view_uniform(device);
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("map"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = |entry: Entry| pipeline(device, &module, &pipeline_layout, format, entry);
        Self {
            triangles: pipeline(Entry::Triangle),
            instances: pipeline(Entry::Instance),
            view,
            group,
            origins: origin_buffer(device, FIRST_ORIGINS),
            origin_count: FIRST_ORIGINS,
            meshes: HashMap::new(),
            lists: HashMap::new(),
            figures: HashMap::new(),
            linear: format.is_srgb(),
            frame: 0,
        }
    }

    fn mesh(&mut self, device: &wgpu::Device, mesh: &Mesh) -> (wgpu::Buffer, wgpu::Buffer) {
        let frame = self.frame;
        let known = self.meshes.entry(mesh.id).or_insert_with(|| Buffers {
            vertices: buffer(
                device,
                bytemuck::cast_slice(&mesh.vertices),
                wgpu::BufferUsages::VERTEX,
            ),
            indices: buffer(
                device,
                bytemuck::cast_slice(&mesh.indices),
                wgpu::BufferUsages::INDEX,
            ),
            last_frame: frame,
        });
        known.last_frame = frame;
        (known.vertices.clone(), known.indices.clone())
    }

    fn figure(&mut self, device: &wgpu::Device, figure: Figure, ink: Ink) -> Unit {
        let make = || {
            let shape = UnitShape::new(figure, ink);
            let vertices = bytemuck::cast_slice(&shape.corners);
            let indices = bytemuck::cast_slice(&shape.indices);
            (
                buffer(device, vertices, wgpu::BufferUsages::VERTEX),
                buffer(device, indices, wgpu::BufferUsages::INDEX),
                shape.indices.len() as u32,
            )
        };
        self.figures
            .entry((figure, ink))
            .or_insert_with(make)
            .clone()
    }

    fn list(&mut self, device: &wgpu::Device, all: &Instances) -> wgpu::Buffer {
        let make = || {
            let bytes = bytemuck::cast_slice(&all.list);
            buffer(device, bytes, wgpu::BufferUsages::VERTEX)
        };
        // Vehicles move every frame, so their list is not cached.
        if all.id == 0 {
            return make();
        }
        let frame = self.frame;
        let known = self.lists.entry(all.id).or_insert_with(|| (make(), frame));
        known.1 = frame;
        known.0.clone()
    }

    fn forget_unused(&mut self) {
        let frame = self.frame;
        self.meshes
            .retain(|_, buffers| frame - buffers.last_frame < KEPT_FRAMES);
        self.lists.retain(|_, list| frame - list.1 < KEPT_FRAMES);
    }
}

/// Entry point of the vertex shader.
#[derive(Clone, Copy)]
enum Entry {
    Triangle,
    Instance,
}

fn pipeline(
    device: &wgpu::Device,
    module: &wgpu::ShaderModule,
    layout: &wgpu::PipelineLayout,
    format: wgpu::TextureFormat,
    entry: Entry,
) -> wgpu::RenderPipeline {
    // The five words of a `Vertex` take 20 bytes; below, the six words of an `Instance` take 24.
    let vertex = wgpu::VertexBufferLayout {
        array_stride: 20,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &wgpu::vertex_attr_array![0 => Float32x2, 1 => Float32x2, 2 => Unorm8x4],
    };
    // A stride of 0 would be simpler, but not every backend supports it. So each draw call gets its own slice
    // with one element.
    let origin = wgpu::VertexBufferLayout {
        array_stride: ORIGIN,
        step_mode: wgpu::VertexStepMode::Instance,
        attributes: &wgpu::vertex_attr_array![3 => Float32x3],
    };
    let one = wgpu::VertexBufferLayout {
        array_stride: 24,
        step_mode: wgpu::VertexStepMode::Instance,
        attributes: &wgpu::vertex_attr_array![
            4 => Float32x2, 5 => Float32x2, 6 => Float32, 7 => Unorm8x4
        ],
    };
    let plain = [Some(vertex.clone()), Some(origin.clone())];
    let many = [Some(vertex), Some(origin), Some(one)];
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("map"),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(match entry {
                Entry::Triangle => "triangle",
                Entry::Instance => "instance",
            }),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: match entry {
                Entry::Triangle => &plain,
                Entry::Instance => &many,
            },
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: None,
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(wgpu::FragmentState {
            module,
            entry_point: Some("paint"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// Draw calls of a frame with their origins.
struct Plan<'a> {
    device: &'a wgpu::Device,
    resources: &'a mut Resources,
    centre: DVec2,
    origins: Vec<[f32; 3]>,
    draws: Vec<Draw>,
}

impl Plan<'_> {
    fn origin(&mut self, origin: DVec2, strength: f32, count: usize) -> u64 {
        // Computed in double precision relative to the centre of the view, so that the GPU adds small
        // numbers.
        let offset = origin - self.centre;
        let at = self.origins.len() as u64;
        let origin = [offset.x as f32, offset.y as f32, strength];
        self.origins.extend(std::iter::repeat_n(origin, count));
        ORIGIN * at
    }

    /// Plans the draw calls of meshes by layer and pass, with their opacity. Calls with opacity 0 are left
    /// out.
    fn batches(&mut self, meshes: &[Arc<Mesh>], strength: impl Fn(i8, u8) -> f32) {
        let keys: BTreeSet<(i8, u8)> = meshes
            .iter()
            .flat_map(|mesh| mesh.batches.iter().map(|batch| batch.key))
            .filter(|key| strength(key.0, key.1) > 0.0)
            .collect();
        let buffers: Vec<_> = meshes
            .iter()
            .map(|mesh| (mesh, self.resources.mesh(self.device, mesh)))
            .collect();
        // Passes with the same opacity share the origins of their meshes.
        let mut placed: (f32, Vec<u64>) = (-1.0, Vec::new());
        // Each pass is drawn for all tiles at once; otherwise the surface of a tile would hide markings of
        // its neighbour that extend into it.
        for key in keys {
            let strength = strength(key.0, key.1);
            if placed.0 != strength {
                let origins = meshes.iter();
                let origins = origins.map(|mesh| self.origin(mesh.origin, strength, 1));
                placed = (strength, origins.collect());
            }
            for ((mesh, (vertices, indices)), origin) in buffers.iter().zip(&placed.1) {
                for batch in mesh.batches.iter().filter(|batch| batch.key == key) {
                    self.draws.push(Draw {
                        vertices: vertices.clone(),
                        indices: indices.clone(),
                        origin: *origin,
                        range: batch.indices.clone(),
                        instances: None,
                    });
                }
            }
        }
    }

    fn instances(&mut self, figures: &Figures<'_>, ink: Ink) {
        // Each instance reads its own element of the origins, so instances are drawn in portions.
        const PORTION: usize = 2048;
        let Figures { figure, all, count } = *figures;
        if count == 0 {
            return;
        }
        let list = self.resources.list(self.device, all);
        let unit = self.resources.figure(self.device, figure, ink);
        // As many elements as the largest portion needs, because all portions read the same ones.
        let origin = self.origin(all.origin, 1.0, PORTION.min(count));
        for first in (0..count).step_by(PORTION) {
            let portion = PORTION.min(count - first);
            self.draws.push(Draw {
                vertices: unit.0.clone(),
                indices: unit.1.clone(),
                origin,
                range: 0..unit.2,
                instances: Some((list.clone(), first, portion as u32)),
            });
        }
    }
}

impl Below {
    /// Returns the uniform of the shader: clip units per metre and per pixel, horizontally and
    /// vertically, and whether the output colours are linear. Clip space is two units wide.
    fn view(&self, linear: bool) -> [f32; 8] {
        let size = self.rect.size();
        let metres = |points: f32| (2.0 / (f64::from(points) * self.frame.camera.scale)) as f32;
        let pixels = |points: f32| 2.0 / (points * self.pixels_per_point);
        let linear = f32::from(u8::from(linear));
        [
            metres(size.x),
            metres(size.y),
            pixels(size.x),
            pixels(size.y),
            linear,
            // The shader reads a vector of four, because uniforms are laid out in steps of 16 bytes.
            0.0,
            0.0,
            0.0,
        ]
    }
}

impl CallbackTrait for Below {
    fn prepare(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        _: &ScreenDescriptor,
        _: &mut wgpu::CommandEncoder,
        resources: &mut CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        let Some(resources) = resources.get_mut::<Resources>() else {
            return Vec::new();
        };
        resources.frame += 1;
        resources.forget_unused();
        let view = self.view(resources.linear);
        queue.write_buffer(&resources.view, 0, bytemuck::cast_slice(&view));
        let mut plan = Plan {
            device,
            resources,
            centre: self.frame.camera.centre,
            origins: Vec::new(),
            draws: Vec::new(),
        };
        for part in self.frame.below() {
            match part {
                Part::Meshes(list, meshes) => {
                    plan.batches(meshes, |layer, pass| self.frame.strength(list, layer, pass));
                }
                Part::Figures(figures) => plan.instances(&figures, self.frame.ink),
            }
        }
        let below = plan.draws.len();
        for figures in self.frame.figures_above() {
            plan.instances(&figures, self.frame.ink);
        }
        let Plan {
            origins,
            draws,
            resources,
            ..
        } = plan;
        // Grows by powers of two, so that a growing world does not allocate a new buffer every frame.
        if origins.len() > resources.origin_count {
            resources.origin_count = origins.len().next_power_of_two();
            resources.origins = origin_buffer(device, resources.origin_count);
        }
        queue.write_buffer(&resources.origins, 0, bytemuck::cast_slice(&origins));
        if let Ok(mut drawn) = self.drawn.lock() {
            *drawn = Drawn { draws, below };
        }
        Vec::new()
    }

    fn paint(
        &self,
        _: PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        resources: &CallbackResources,
    ) {
        if let Ok(drawn) = self.drawn.lock() {
            draw(&drawn.draws[..drawn.below], pass, resources);
        }
    }
}

impl CallbackTrait for Above {
    // `Below` has prepared both: all callbacks of a frame are prepared before the first one draws.
    fn paint(
        &self,
        _: PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        resources: &CallbackResources,
    ) {
        if let Ok(drawn) = self.drawn.lock() {
            draw(&drawn.draws[drawn.below..], pass, resources);
        }
    }
}

fn draw(draws: &[Draw], pass: &mut wgpu::RenderPass<'static>, resources: &CallbackResources) {
    let Some(resources) = resources.get::<Resources>() else {
        return;
    };
    pass.set_bind_group(0, &resources.group, &[]);
    for draw in draws {
        pass.set_vertex_buffer(0, draw.vertices.slice(..));
        pass.set_vertex_buffer(1, resources.origins.slice(draw.origin..));
        pass.set_index_buffer(draw.indices.slice(..), wgpu::IndexFormat::Uint32);
        match &draw.instances {
            None => {
                pass.set_pipeline(&resources.triangles);
                pass.draw_indexed(draw.range.clone(), 0, 0..1);
            }
            Some((list, first, count)) => {
                pass.set_pipeline(&resources.instances);
                // Starts at the portion, because the draw call counts from 0.
                pass.set_vertex_buffer(2, list.slice(24 * *first as u64..));
                pass.draw_indexed(draw.range.clone(), 0, 0..*count);
            }
        }
    }
}
