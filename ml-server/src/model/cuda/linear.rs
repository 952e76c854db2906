//! Matrix products through cuBLASLt.
//!
//! cuBLASLt is column-major: a row-major `[rows, columns]` is to it a `columns × rows` matrix. `y = x Wᵀ` is asked for as
//! `yᵀ = W xᵀ`, with W, which it sees as its transpose, turned back.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Arc;

use cudarc::cublaslt::result::{self, CublasError};
use cudarc::cublaslt::sys as lt;
use lt::cublasLtEpilogue_t as Epilogue;
use lt::cublasLtMatmulDescAttributes_t as Attribute;
use lt::cublasLtMatmulPreferenceAttributes_t as Preference;
use lt::cublasLtMatrixLayoutAttribute_t as Extent;

use super::device::Device;
use super::memory::{Address, Buffer};
use crate::error::ComputeError;
use crate::model::device::Precision;
use crate::model::ops::Activation;
use crate::model::weights::LinearWeights;

/// Scratch memory for cuBLASLt: what NVIDIA recommends for Hopper.
const WORKSPACE: usize = 32 << 20;
/// What all matrices' addresses are a multiple of at least.
const ALIGNMENT: u32 = 16;
/// cuBLAS's numbers for what becomes of a factor.
const AS_IT_IS: i32 = 0;
const TRANSPOSED: i32 = 1;
/// Shapes for which a choice is remembered.
const MOST_PLANS: usize = 4_096;

/// A fully connected layer, `y = x Wᵀ + b`, on the GPU.
pub(super) struct Linear {
    weight: Buffer,
    bias: Buffer,
    inputs: usize,
    outputs: usize,
}

impl Linear {
    /// Uploads the weights; `Q8_0` ones are widened.
    ///
    /// # Errors
    /// [`ComputeError::OutOfMemory`].
    pub(super) fn upload(
        device: &Arc<Device>,
        LinearWeights { weight, bias }: LinearWeights,
        precision: Precision,
    ) -> Result<Self, ComputeError> {
        let (outputs, inputs) = (weight.shape[0], weight.shape[1]);
        let weight = Buffer::of_values(device, &weight.into_f32(), precision)?;
        let bias = Buffer::of_values(device, &bias, precision)?;
        Ok(Self { weight, bias, inputs, outputs })
    }

    /// Number of outputs per row.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }
}

/// Batches of products `out = a bᵀ`, everything row-major: `a` is `[rows, inner]`, `b` is `[columns, inner]` and `out` is
/// `[rows, columns]`. Pitches are from row to row, strides from one product of the batch to the next, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) inner: usize,
    pub(super) a_pitch: usize,
    pub(super) b_pitch: usize,
    pub(super) batch: usize,
    pub(super) a_stride: usize,
    pub(super) b_stride: usize,
    pub(super) out_stride: usize,
}

/// cuBLASLt with its scratch memory and its chosen algorithm for each shape.
pub(super) struct Products {
    device: Arc<Device>,
    handle: lt::cublasLtHandle_t,
    workspace: Buffer,
    precision: Precision,
    plans: HashMap<(Shape, u32), Plan>,
}

// SAFETY: a handle of cuBLASLt and its descriptors belong to no thread; `&mut self` keeps two from using one at a time.
#[expect(unsafe_code, reason = "raw pointers are not Send")]
unsafe impl Send for Products {}

impl Products {
    /// Starts cuBLASLt.
    ///
    /// # Errors
    /// When it fails to start, or there is no memory.
    pub(super) fn new(device: &Arc<Device>, precision: Precision) -> Result<Self, ComputeError> {
        device.context.bind_to_thread()?;
        Ok(Self {
            device: Arc::clone(device),
            handle: result::create_handle()?,
            workspace: Buffer::new(device, WORKSPACE)?,
            precision,
            plans: HashMap::new(),
        })
    }

    /// `out = activation(x Wᵀ + b)` for `rows` rows that lie without gaps. Returns whether the activation was applied: the
    /// rectifier and, where f32's accuracy is not asked for, GELU's tanh form are part of the product.
    ///
    /// # Errors
    /// When cuBLASLt fails.
    pub(super) fn linear(
        &mut self,
        layer: &Linear,
        x: Address,
        out: Address,
        rows: usize,
        activation: Option<Activation>,
    ) -> Result<bool, ComputeError> {
        let fused = match activation {
            Some(Activation::Relu) => Some(Epilogue::CUBLASLT_EPILOGUE_RELU_BIAS),
            Some(Activation::GeluTanh) if self.precision != Precision::F32 => {
                Some(Epilogue::CUBLASLT_EPILOGUE_GELU_BIAS)
            }
            _ => None,
        };
        let shape = Shape {
            rows,
            columns: layer.outputs,
            inner: layer.inputs,
            a_pitch: layer.inputs,
            b_pitch: layer.inputs,
            batch: 1,
            a_stride: 0,
            b_stride: 0,
            out_stride: 0,
        };
        let epilogue = fused.unwrap_or(Epilogue::CUBLASLT_EPILOGUE_BIAS);
        self.run(shape, epilogue, Some(layer.bias.address()), [x, layer.weight.address(), out])?;
        Ok(fused.is_some())
    }

    /// The products of `shape` over the addresses of `a`, `b` and `out`.
    ///
    /// # Errors
    /// When cuBLASLt fails.
    pub(super) fn batch(&mut self, shape: Shape, addresses: [Address; 3]) -> Result<(), ComputeError> {
        self.run(shape, Epilogue::CUBLASLT_EPILOGUE_DEFAULT, None, addresses)
    }

    fn run(
        &mut self,
        shape: Shape,
        epilogue: Epilogue,
        bias: Option<Address>,
        [a, b, out]: [Address; 3],
    ) -> Result<(), ComputeError> {
        self.device.context.bind_to_thread()?;
        let key = (shape, epilogue as u32);
        if !self.plans.contains_key(&key) {
            if self.plans.len() >= MOST_PLANS {
                self.plans.clear();
            }
            let plan = Plan::new(self.handle, shape, epilogue, bias, self.precision)?;
            self.plans.insert(key, plan);
        }
        let plan = &self.plans[&key];
        if let Some(bias) = bias {
            plan.product.set(Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias)?;
        }
        let (one, zero) = (1f32, 0f32);
        let pointer = |address: Address| address as *mut c_void;
        // SAFETY: the plan's descriptors live as long as it does; the addresses are of buffers that hold matrices of its shape.
        #[expect(unsafe_code, reason = "cuBLASLt's interface is in C")]
        unsafe {
            result::matmul(
                self.handle,
                plan.product.0,
                (&raw const one).cast(),
                (&raw const zero).cast(),
                // Row-major `out = a bᵀ` is column-major `outᵀ = b aᵀ`.
                pointer(b),
                plan.b.0,
                pointer(a),
                plan.a.0,
                pointer(out),
                plan.out.0,
                pointer(out),
                plan.out.0,
                &raw const plan.algorithm,
                pointer(self.workspace.address()),
                WORKSPACE,
                self.device.stream.cu_stream().cast(),
            )
        }?;
        Ok(())
    }
}

impl Drop for Products {
    fn drop(&mut self) {
        self.plans.clear();
        // SAFETY: the handle was created in `new` and is not used after this.
        #[expect(unsafe_code, reason = "cuBLASLt's interface is in C")]
        if let Err(error) = unsafe { result::destroy_handle(self.handle) } {
            tracing::warn!(%error, "cuBLASLt did not end cleanly");
        }
    }
}

/// Descriptors of one shape, and the algorithm for it.
struct Plan {
    product: Product,
    a: Matrix,
    b: Matrix,
    out: Matrix,
    algorithm: lt::cublasLtMatmulAlgo_t,
}

impl Plan {
    fn new(
        handle: lt::cublasLtHandle_t,
        shape: Shape,
        epilogue: Epilogue,
        bias: Option<Address>,
        precision: Precision,
    ) -> Result<Self, ComputeError> {
        let product = Product::new()?;
        product.set(Attribute::CUBLASLT_MATMUL_DESC_TRANSA, &TRANSPOSED)?;
        product.set(Attribute::CUBLASLT_MATMUL_DESC_TRANSB, &AS_IT_IS)?;
        product.set(Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue)?;
        if let Some(bias) = bias {
            product.set(Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias)?;
        }
        let a =
            Matrix::new(precision, [shape.rows, shape.inner, shape.a_pitch], [shape.batch, shape.a_stride])?;
        let b = Matrix::new(
            precision,
            [shape.columns, shape.inner, shape.b_pitch],
            [shape.batch, shape.b_stride],
        )?;
        let out = Matrix::new(
            precision,
            [shape.rows, shape.columns, shape.columns],
            [shape.batch, shape.out_stride],
        )?;
        let wishes = Wishes::new()?;
        wishes.set(Preference::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &WORKSPACE)?;
        for alignment in [
            Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
            Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
            Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
            Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
        ] {
            wishes.set(alignment, &ALIGNMENT)?;
        }
        // SAFETY: all descriptors are alive, and the handle is.
        #[expect(unsafe_code, reason = "cuBLASLt's interface is in C")]
        let chosen =
            unsafe { result::get_matmul_algo_heuristic(handle, product.0, b.0, a.0, out.0, out.0, wishes.0) };
        let chosen = chosen.map_err(|error| {
            ComputeError::Failed(format!("cuBLASLt has no algorithm for {shape:?}: {error}"))
        })?;
        Ok(Self { product, a, b, out, algorithm: chosen.algo })
    }
}

/// A descriptor of cuBLASLt, destroyed when dropped.
macro_rules! descriptor {
    ($name:ident, $handle:ty, $attribute:ty, $set:path, $destroy:path) => {
        struct $name($handle);

        impl $name {
            /// Sets an attribute to a value of the type that NVIDIA's manual gives for it.
            fn set<T>(&self, attribute: $attribute, value: &T) -> Result<(), CublasError> {
                // SAFETY: the descriptor is alive; cuBLASLt reads exactly the given number of bytes and copies them.
                #[expect(unsafe_code, reason = "cuBLASLt's interface is in C")]
                unsafe {
                    $set(self.0, attribute, std::ptr::from_ref(value).cast(), size_of::<T>())
                }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: created by `new`, and not used after this.
                #[expect(unsafe_code, reason = "cuBLASLt's interface is in C")]
                let _ = unsafe { $destroy(self.0) };
            }
        }
    };
}

descriptor!(
    Product,
    lt::cublasLtMatmulDesc_t,
    Attribute,
    result::set_matmul_desc_attribute,
    result::destroy_matmul_desc
);
descriptor!(
    Matrix,
    lt::cublasLtMatrixLayout_t,
    Extent,
    result::set_matrix_layout_attribute,
    result::destroy_matrix_layout
);
descriptor!(
    Wishes,
    lt::cublasLtMatmulPreference_t,
    Preference,
    result::set_matmul_pref_attribute,
    result::destroy_matmul_pref
);

impl Product {
    /// With sums and factors in f32, for any type of matrices.
    fn new() -> Result<Self, CublasError> {
        result::create_matmul_desc(
            lt::cublasComputeType_t::CUBLAS_COMPUTE_32F,
            lt::cudaDataType_t::CUDA_R_32F,
        )
        .map(Self)
    }
}

impl Wishes {
    fn new() -> Result<Self, CublasError> {
        result::create_matmul_pref().map(Self)
    }
}

impl Matrix {
    /// Row-major `[rows, columns]` with `pitch` elements from row to row.
    fn new(
        precision: Precision,
        [rows, columns, pitch]: [usize; 3],
        [batch, stride]: [usize; 2],
    ) -> Result<Self, CublasError> {
        let kind = match precision {
            Precision::Bf16 => lt::cudaDataType_t::CUDA_R_16BF,
            Precision::F16 => lt::cudaDataType_t::CUDA_R_16F,
            Precision::F32 => lt::cudaDataType_t::CUDA_R_32F,
        };
        let matrix =
            result::create_matrix_layout(kind, columns as u64, rows as u64, pitch as i64).map(Self)?;
        if batch > 1 {
            matrix.set(Extent::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &(batch as i32))?;
            matrix.set(Extent::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &(stride as i64))?;
        }
        Ok(matrix)
    }
}
