//! Tensors in safetensors files, read and written without libtorch.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fs_err as fs;
use safetensors::tensor::{Metadata, TensorInfo, View, serialize_to_file};
use safetensors::{Dtype, SafeTensors};

use crate::error::Fixable;

/// The largest header that is read before the rest: a million tensors have less.
const MOST_HEADER_BYTES: u64 = 100 << 20;

/// What a file says it holds: each tensor's kind and shape, by name.
pub type Shapes = BTreeMap<String, (Dtype, Vec<usize>)>;

/// A safetensors file in memory.
pub struct TensorFile {
    path: PathBuf,
    bytes: Vec<u8>,
}

/// A tensor to be written: little-endian numbers, row by row.
pub struct Tensor<'a> {
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub bytes: Cow<'a, [u8]>,
}

/// Reads what a file says it holds, and no tensor.
///
/// # Errors
///
/// Where it cannot be read, or is no safetensors file.
pub fn shapes(path: &Path) -> Result<Shapes> {
    let mut file = fs::File::open(path)?;
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(|_| damaged(path, "it is too short"))?;
    let length = u64::from_le_bytes(length);
    if length > MOST_HEADER_BYTES {
        return Err(damaged(path, "its header cannot be so long").into());
    }
    let mut header = Vec::new();
    file.take(length).read_to_end(&mut header)?;
    let header: Metadata = serde_json::from_slice(&header).map_err(|error| damaged(path, &error.to_string()))?;
    let shape = |(name, info): (String, &TensorInfo)| (name, (info.dtype, info.shape.clone()));
    Ok(header.tensors().into_iter().map(shape).collect())
}

impl TensorFile {
    /// Reads a file whole.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or is no whole safetensors file.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path)?;
        SafeTensors::deserialize(&bytes).map_err(|error| damaged(path, &error.to_string()))?;
        Ok(Self { path: path.to_owned(), bytes })
    }

    /// BLAKE3 of the file, in hexadecimal.
    pub fn digest(&self) -> String {
        blake3::hash(&self.bytes).to_hex().to_string()
    }

    /// Every tensor by name, as it lies there.
    pub fn tensors(&self) -> BTreeMap<String, Tensor<'_>> {
        let (length, header) = SafeTensors::read_metadata(&self.bytes).expect("it was read when the file was");
        let numbers = &self.bytes[8 + length..];
        let tensor = |(name, info): (String, &TensorInfo)| {
            let bytes = Cow::Borrowed(&numbers[info.data_offsets.0..info.data_offsets.1]);
            (name, Tensor { dtype: info.dtype, shape: info.shape.clone(), bytes })
        };
        header.tensors().into_iter().map(tensor).collect()
    }

    /// The numbers of a float32 tensor.
    ///
    /// # Errors
    ///
    /// Where it is not there, or of another kind or shape.
    pub fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let tensors = self.tensors();
        let tensor = tensors.get(name).with_context(|| format!("`{}` has no `{name}`", self.path.display()))?;
        anyhow::ensure!(
            tensor.dtype == Dtype::F32 && tensor.shape == shape,
            "`{name}` in `{}` is {:?} {:?}, and F32 {shape:?} is wanted",
            self.path.display(),
            tensor.dtype,
            tensor.shape
        );
        Ok(tensor.bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("they are four"))).collect())
    }
}

impl Tensor<'_> {
    pub fn floats(shape: &[usize], values: &[f32]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { dtype: Dtype::F32, shape: shape.to_vec(), bytes: Cow::Owned(bytes) }
    }

    /// The same tensor in float32, exactly, from float32, bfloat16 or float16; none from anything else.
    pub fn widened(self) -> Option<Self> {
        let halves = |bytes: &[u8], widen: fn(u16) -> f32| {
            let half = |two: &[u8]| widen(u16::from_le_bytes([two[0], two[1]])).to_le_bytes();
            Cow::Owned(bytes.chunks_exact(2).flat_map(half).collect())
        };
        let bytes = match self.dtype {
            Dtype::F32 => self.bytes,
            Dtype::BF16 => halves(&self.bytes, |half| f32::from_bits(u32::from(half) << 16)),
            Dtype::F16 => halves(&self.bytes, from_f16),
            _ => return None,
        };
        Some(Self { dtype: Dtype::F32, shape: self.shape, bytes })
    }
}

/// IEEE 754's binary16: one bit of sign, five of exponent, ten of fraction.
fn from_f16(half: u16) -> f32 {
    let sign = if half >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f32::from(half & 1023));
    sign * match exponent {
        0 => fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2_f32.powi(exponent - 25),
    }
}

impl View for &Tensor<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Writes a safetensors file; `format` goes into its metadata, which readers of a framework look for.
pub fn write(path: &Path, tensors: &BTreeMap<String, Tensor>, format: Option<&str>) -> Result<()> {
    let metadata = format.map(|format| HashMap::from([("format".to_owned(), format.to_owned())]));
    serialize_to_file(tensors, &metadata, path).map_err(|error| match error {
        safetensors::SafeTensorError::IoError(error) => anyhow::Error::from(error),
        other => other.into(),
    })?;
    Ok(fs::File::open(path)?.sync_all()?)
}

fn damaged(path: &Path, what: &str) -> Fixable {
    Fixable::failed(format!("`{}` is no whole safetensors file: {what}", path.display()))
        .hint("bring it here again, whole; large files are often cut, or are pointers that git-lfs has yet to replace")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_back_as_it_was_written_and_a_cut_one_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.safetensors");
        let one = Tensor::floats(&[2, 2], &[1.0, -2.5, 0.0, 1e-9]);
        write(&path, &BTreeMap::from([("one".to_owned(), one)]), Some("pt")).expect("written");
        assert_eq!(shapes(&path).expect("a header")["one"], (Dtype::F32, vec![2, 2]));
        let file = TensorFile::read(&path).expect("whole");
        assert_eq!(file.floats("one", &[2, 2]).expect("it is there"), [1.0, -2.5, 0.0, 1e-9]);
        assert!(file.floats("one", &[4]).is_err() && file.floats("two", &[2, 2]).is_err());
        let bytes = fs::read(&path).expect("read");
        for length in [0, 4, 20, bytes.len() - 1] {
            fs::write(&path, &bytes[..length]).expect("written");
            let error = TensorFile::read(&path).err().expect("it is cut").to_string();
            assert!(error.contains("is no whole safetensors file"), "{error}");
            assert_eq!(shapes(&path).is_err(), length < bytes.len() - 1, "{length}");
        }
    }

    #[test]
    fn half_precisions_are_widened_exactly() {
        let halves = |dtype, halves: &[u16]| {
            let bytes = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
            let wide = Tensor { dtype, shape: vec![halves.len()], bytes: Cow::Owned(bytes) }.widened().expect("a kind we know");
            wide.bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four"))).collect::<Vec<_>>()
        };
        let known = [1.0, -2.0, 0.333_251_95, 65_504.0, 6.103_515_6e-5, 5.960_464_5e-8, f32::INFINITY, -0.0];
        assert_eq!(halves(Dtype::F16, &[0x3c00, 0xc000, 0x3555, 0x7bff, 0x0400, 0x0001, 0x7c00, 0x8000]), known);
        assert!(halves(Dtype::F16, &[0x7e00])[0].is_nan());
        assert_eq!(halves(Dtype::BF16, &[0x3f80, 0xc000, 0x3eab]), [1.0, -2.0, 0.333_984_38]);
        assert!(Tensor { dtype: Dtype::I64, shape: vec![], bytes: Cow::Borrowed(&[]) }.widened().is_none());
    }
}
