//! What must hold of any decoder, whatever its weights.

use tch::{Device, Kind, Tensor};

use super::config::{ModelConfig, Precision};
use super::decoder::Decoder;

const CONFIG: ModelConfig = ModelConfig { layers: 2, heads: 2, width: 32, hidden: 48, context: 16 };

fn tokens(rows: i64, seed: i64) -> Tensor {
    let values: Vec<i64> = (0..rows * 16).map(|at| (at * at * 31 + seed * 977 + at * 7) % 1971).collect();
    Tensor::from_slice(&values).view([rows, 16])
}

#[test]
fn changing_a_later_token_changes_no_earlier_logit_and_changes_its_own() {
    for precision in [Precision::F32, Precision::Bf16] {
        let decoder = Decoder::new(&CONFIG, 3, Device::Cpu).expect("the CPU has memory").with_precision(precision);
        let one = tokens(1, 1);
        let before = decoder.logits(&one);
        for changed in 1..16 {
            let other = one.copy();
            let _ = other.narrow(1, changed, 1).fill_(1000 + changed);
            let after = decoder.logits(&other);
            // To the bit: a position that saw the token at all would differ.
            assert_eq!(before.narrow(1, 0, changed), after.narrow(1, 0, changed), "{precision:?}, token {changed}");
            assert_ne!(before.narrow(1, changed, 1), after.narrow(1, changed, 1), "{precision:?}, token {changed}");
        }
    }
}

#[test]
fn gradients_are_the_slopes_of_the_loss() {
    let decoder = Decoder::new(&CONFIG, 3, Device::Cpu).expect("the CPU has memory");
    let named = decoder.weights().named();
    for (_, weight) in &named {
        // Ten times the spread of a start: attention that attends, and slopes worth measuring.
        let factor = if weight.dim() > 1 { 10.0 } else { 1.0 };
        let _ = tch::no_grad(|| weight.shallow_clone().g_mul_scalar_(factor));
        let _ = weight.set_requires_grad(true);
    }
    let [inputs_bt, targets_bt] = [tokens(4, 1), tokens(4, 2)];
    let loss = || decoder.loss(Precision::F32, &inputs_bt, &targets_bt);
    let weights: Vec<&Tensor> = named.iter().map(|(_, weight)| *weight).collect();
    let gradients = Tensor::run_backward(&[loss()], &weights, false, false);
    let _guard = tch::no_grad_guard();
    for ((name, weight), gradient) in named.iter().zip(gradients) {
        let slope = gradient.norm().double_value(&[]);
        // Up the gradient, by little of the weight, and by what changes the loss enough to be told in float32.
        let far = (0.01 / slope).min(0.02 * weight.norm().double_value(&[]));
        let way = &gradient * (far / slope);
        let kept = weight.copy();
        let at = |sign: f64| {
            weight.shallow_clone().copy_(&(&kept + &way * sign));
            loss().to_kind(Kind::Double).double_value(&[])
        };
        let measured = (at(1.0) - at(-1.0)) / (2.0 * far);
        weight.shallow_clone().copy_(&kept);
        assert!((measured / slope - 1.0).abs() < 0.02, "{name}: a slope of {measured}, and a gradient of {slope}");
    }
}
