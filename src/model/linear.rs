//! The product of activations and a weight matrix, by whichever of libtorch's kernels is the fastest.

use tch::{Kind, Tensor};

use super::shim;

/// Rows from which a convolution wins; below, its preparation costs more than it saves.
const ROWS: i64 = 64;

/// `x · weightᵀ` without a bias: [… , in] and [out, in] to [… , out].
///
/// On a CPU, a float32 product of many rows is asked for as a convolution with a kernel of one pixel, which is the same sums:
/// libtorch gives it to oneDNN, whose kernels take the widest vectors of any processor, and a plain product to MKL, which
/// keeps half of them idle on one that is not Intel's.
pub(crate) fn linear(x: &Tensor, weight: &Tensor) -> Tensor {
    if weight.is_mkldnn() {
        return shim::packed_product(x, weight).expect("a matrix that was packed multiplies rows of its width");
    }
    let mut shape = x.size();
    let width = shape.pop().unwrap_or(1);
    let rows = shape.iter().product();
    if x.device().is_cuda() || x.kind() != Kind::Float || rows < ROWS {
        return x.linear::<&Tensor>(weight, None);
    }
    let out = weight.size()[0];
    // [1, in, 1, rows], with a row's numbers beside each other: nothing is copied, here or on the way back.
    let pixels = x.reshape([1, 1, rows, width]).permute([0, 3, 1, 2]);
    let kernel = weight.view([out, width, 1, 1]);
    let y = pixels.conv2d::<&Tensor>(&kernel, None, [1, 1], [0, 0], [1, 1], 1);
    shape.push(out);
    y.permute([0, 2, 3, 1]).reshape(shape)
}

/// A matrix in the order in which oneDNN's kernels read it, for products without gradients: they bring any other into it each
/// time, which takes longer than a product of few rows. As it is where libtorch has no oneDNN or the kernels are others.
pub(crate) fn packed(weight: &Tensor) -> Tensor {
    if weight.device().is_cuda() || weight.kind() != Kind::Float {
        return weight.shallow_clone();
    }
    shim::packed(weight).unwrap_or_else(|_| weight.shallow_clone())
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::*;
    use crate::model::reference::assert_near;

    fn ramp(shape: [i64; 2], step: f64) -> Tensor {
        let numbers = Tensor::arange(shape[0] * shape[1], (Kind::Double, Device::Cpu));
        (numbers * step).sin().to_kind(Kind::Float).view(shape)
    }

    #[test]
    fn many_rows_and_few_have_the_product_and_the_gradients_of_a_plain_one() {
        for rows in [1, ROWS - 1, ROWS, 300] {
            let (x, weight) = (ramp([rows, 48], 0.37), ramp([1971, 48], 0.11));
            let of = |product: &dyn Fn(&Tensor, &Tensor) -> Tensor| {
                let [x, weight] = [&x, &weight].map(|tensor| tensor.copy().set_requires_grad(true));
                let y = product(&x, &weight);
                let gradients = Tensor::run_backward(&[(&y * &y).sum(Kind::Float)], &[&x, &weight], false, false);
                (y, gradients)
            };
            let (ours, plain) = (of(&linear), of(&|x, weight| x.matmul(&weight.tr())));
            assert_near("product", &ours.0, &plain.0, 1e-5);
            for (ours, plain) in ours.1.iter().zip(&plain.1) {
                assert_near("gradient", ours, plain, 1e-5);
                assert!(ours.is_contiguous(), "the optimiser walks the memory");
            }
        }
    }

    #[test]
    fn a_packed_matrix_gives_the_product_of_any_number_of_rows_and_of_columns_of_more() {
        let weight = ramp([1971, 48], 0.11);
        let ready = packed(&weight);
        for rows in [1, 7, 64, 300] {
            let x = ramp([rows, 48], 0.37);
            assert_near("product", &linear(&x, &ready), &x.matmul(&weight.tr()), 1e-5);
        }
        let wide = ramp([48, 96], 0.37);
        let y = linear(&wide.tr().view([2, 48, 48]), &ready);
        assert_near("product", &y.view([96, 1971]), &wide.tr().matmul(&weight.tr()), 1e-5);
    }

    #[test]
    fn rows_keep_their_order_in_a_tensor_of_three_dimensions() {
        let (x, weight) = (ramp([128, 16], 0.7), ramp([24, 16], 0.3));
        let y_bto = linear(&x.view([2, 64, 16]), &weight);
        assert_eq!(y_bto.size(), [2, 64, 24]);
        assert_near("product", &y_bto.view([128, 24]), &x.matmul(&weight.tr()), 1e-5);
        assert!(y_bto.is_contiguous());
    }
}
