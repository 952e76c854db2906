//! Memory of a GPU and page-locked memory of the host.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr, PinnedHostSlice, ValidAsZeroBits};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::device::Device;
use crate::error::ComputeError;
use crate::model::device::Precision;

/// Address on the GPU, as kernels take it. 0 is null.
pub(super) type Address = u64;

/// Bytes on the GPU, freed when dropped.
pub(super) struct Buffer {
    slice: CudaSlice<u8>,
    address: Address,
}

impl Buffer {
    /// `bytes` uninitialized bytes; at least one.
    ///
    /// # Errors
    /// [`ComputeError::OutOfMemory`].
    pub(super) fn new(device: &Arc<Device>, bytes: usize) -> Result<Self, ComputeError> {
        // SAFETY: kernels and copies write every byte before one reads it, which the emulator's NaNs watch over.
        #[expect(unsafe_code, reason = "the memory is not set")]
        let slice = unsafe { device.stream.alloc::<u8>(bytes.max(1)) }?;
        let address = slice.device_ptr(&device.stream).0;
        Ok(Self { slice, address })
    }

    /// A copy of `bytes`.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(super) fn of(device: &Arc<Device>, bytes: &[u8]) -> Result<Self, ComputeError> {
        let mut buffer = Self::new(device, bytes.len())?;
        device.stream.memcpy_htod(bytes, &mut buffer.slice)?;
        Ok(buffer)
    }

    /// `values` as the GPU stores them.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(super) fn of_values(
        device: &Arc<Device>,
        values: &[f32],
        precision: Precision,
    ) -> Result<Self, ComputeError> {
        Self::of(device, &encode(values, precision))
    }

    /// `values` unchanged.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub(super) fn of_f32(device: &Arc<Device>, values: &[f32]) -> Result<Self, ComputeError> {
        Self::of_values(device, values, Precision::F32)
    }

    pub(super) fn address(&self) -> Address {
        self.address
    }
}

/// `values` in `precision`, rounded to nearest, in the byte order of the GPU.
pub(super) fn encode(values: &[f32], precision: Precision) -> Vec<u8> {
    match precision {
        Precision::F32 => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        Precision::F16 => {
            let mut halves = vec![f16::ZERO; values.len()];
            halves.convert_from_f32_slice(values);
            halves.into_iter().flat_map(f16::to_le_bytes).collect()
        }
        Precision::Bf16 => {
            let mut halves = vec![bf16::ZERO; values.len()];
            halves.convert_from_f32_slice(values);
            halves.into_iter().flat_map(bf16::to_le_bytes).collect()
        }
    }
}

/// Bytes of one value.
pub(super) fn width(precision: Precision) -> usize {
    match precision {
        Precision::F32 => 4,
        Precision::Bf16 | Precision::F16 => 2,
    }
}

/// Page-locked memory of the host: copies from and to it need no detour.
pub(super) struct Staging<T> {
    host: PinnedHostSlice<T>,
}

impl<T: DeviceRepr + ValidAsZeroBits + Copy> Staging<T> {
    /// Room for `length` values.
    ///
    /// # Errors
    /// [`ComputeError::OutOfMemory`].
    pub(super) fn new(device: &Arc<Device>, length: usize) -> Result<Self, ComputeError> {
        // SAFETY: values are written before they are read, and any bits are a number. Memory that the processor also reads is
        // not write-combined, hence no flags.
        #[expect(unsafe_code, reason = "the memory is not set")]
        let host = unsafe { device.context.alloc_pinned_with_flags(length, 0) }?;
        Ok(Self { host })
    }

    /// Starts to copy `values`, which fit, to the start of `buffer`.
    ///
    /// # Errors
    /// When the driver fails.
    pub(super) fn send(
        &mut self,
        device: &Device,
        values: &[T],
        buffer: &mut Buffer,
    ) -> Result<(), ComputeError> {
        self.host.as_mut_slice()?[..values.len()].copy_from_slice(values);
        let bytes = std::mem::size_of_val(values);
        // SAFETY: `T` is a plain number, so its bytes may be read as such.
        #[expect(unsafe_code, reason = "numbers are sent as bytes")]
        let bytes = unsafe { std::slice::from_raw_parts(self.host.as_ptr()?.cast::<u8>(), bytes) };
        Ok(device.stream.memcpy_htod(bytes, &mut buffer.slice)?)
    }

    /// The first `length` values of `buffer`, in as many pieces as there is room for here. Waits for the GPU.
    ///
    /// # Errors
    /// What went wrong on the GPU since the last time.
    pub(super) fn receive(
        &mut self,
        device: &Device,
        buffer: &Buffer,
        length: usize,
    ) -> Result<Vec<T>, ComputeError> {
        let mut values = Vec::with_capacity(length);
        while values.len() < length {
            let piece = self.host.len().min(length - values.len());
            let (first, bytes) = (values.len() * size_of::<T>(), piece * size_of::<T>());
            // SAFETY: as in `send`; any bits are a number, and a piece is no longer than the memory here.
            #[expect(unsafe_code, reason = "numbers are received as bytes")]
            let host = unsafe { std::slice::from_raw_parts_mut(self.host.as_mut_ptr()?.cast::<u8>(), bytes) };
            device.stream.memcpy_dtoh(&buffer.slice.slice(first..first + bytes), host)?;
            device.stream.synchronize()?;
            values.extend_from_slice(&self.host.as_slice()?[..piece]);
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_to_nearest() {
        let values = [1.0, -2.5, 1.003_906_2, 65_504.0];
        assert_eq!(encode(&values, Precision::F32)[..4], 1f32.to_le_bytes());
        // 1 + 2⁻⁸ lies between two bf16 and goes to the even one.
        assert_eq!(encode(&values, Precision::Bf16), [0x80, 0x3f, 0x20, 0xc0, 0x80, 0x3f, 0x80, 0x47]);
        assert_eq!(encode(&values, Precision::F16), [0x00, 0x3c, 0x00, 0xc1, 0x04, 0x3c, 0xff, 0x7b]);
    }
}
