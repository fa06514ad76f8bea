//! The export of the reference decoder: its second opinion, and what becomes of it when a tensor is another.

use std::path::Path;

use tch::{Kind, Tensor};

use super::check::check;
use super::llama::Llama;
use super::weights::parameters;
use crate::export::folder::{ModelFolder, with_weights};
use crate::export::hf::write;
use crate::export::tensors::TensorFile;
use crate::model::decoder::Decoder;
use crate::model::reference::{Reference, assert_near, references};

fn exported(reference: &Reference, folder: &Path) -> Decoder {
    let decoder = reference.decoder();
    let weights = folder.join("weights.safetensors");
    decoder.weights().write(&weights).expect("the folder can be written");
    write(&weights, decoder.config(), folder).expect("the folder can be written");
    fs_err::remove_file(weights).expect("it was just written");
    decoder
}

#[test]
fn the_second_opinion_gives_the_logits_of_the_reference() {
    for reference in references() {
        let dir = tempfile::tempdir().expect("a folder");
        exported(&reference, dir.path());
        let llama = Llama::read(dir.path()).expect("it was just exported");
        let [inputs, _] = reference.batch(0);
        let rows: Vec<f64> = (0..inputs.size()[0])
            .flat_map(|row| {
                let tokens: Vec<i64> = Vec::try_from(inputs.get(row)).expect("numbers");
                let tokens: Vec<u16> = tokens.into_iter().map(|token| token as u16).collect();
                llama.logits(&tokens, 2)
            })
            .collect();
        let seen = Tensor::from_slice(&rows).to_kind(Kind::Float).view([inputs.size()[0], inputs.size()[1], -1]);
        let wanted = reference.tensor("logits");
        assert_near("logits", &reference.sampled(&seen).view(wanted.size().as_slice()), wanted, 1e-5);
    }
}

#[test]
fn an_export_passes_its_check_and_a_tampered_tensor_is_refused() {
    let reference = references().remove(0);
    // Its attention has hardly learned anything yet: what it looks at decides less than what it sees.
    for (name, factor) in [
        ("model.layers.1.self_attn.k_proj.weight", -1.0),
        ("model.layers.1.self_attn.v_proj.weight", 1.01),
        ("model.norm.weight", 1.001),
        ("model.embed_tokens.weight", 1.001),
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        let decoder = exported(&reference, dir.path());
        let passed = check(dir.path(), decoder.config().context, &|tokens| decoder.sequence_logits(tokens), 2)
            .expect("nothing was changed");
        assert_eq!(passed.iter().map(|at| at.length).collect::<Vec<_>>(), [1, 7, 64]);

        let path = dir.path().join("model.safetensors");
        let tensors: Vec<(String, Tensor)> = Tensor::read_safetensors(&path).expect("just written");
        let tampered: Vec<(&str, Tensor)> = tensors
            .iter()
            .map(|(of, tensor)| (of.as_str(), if of == name { tensor * factor } else { tensor.shallow_clone() }))
            .collect();
        Tensor::write_safetensors(&tampered, &path).expect("the folder can be written");
        let error = check(dir.path(), decoder.config().context, &|tokens| decoder.sequence_logits(tokens), 2)
            .expect_err(name)
            .to_string();
        assert!(error.contains("the exported files give other logits than the decoder"), "{name}: {error}");
    }
}

#[test]
fn what_was_exported_is_imported_to_the_bit_and_parameters_are_those_of_the_decoder() {
    let reference = references().remove(0);
    let dir = tempfile::tempdir().expect("a folder");
    let decoder = exported(&reference, dir.path());
    let named: Vec<(String, Vec<usize>)> = decoder
        .weights()
        .named()
        .into_iter()
        .map(|(name, tensor)| (name, tensor.size().into_iter().map(|size| size as usize).collect()))
        .collect();
    let listed: Vec<_> = parameters(decoder.config()).into_iter().map(|one| (one.ours, one.shape)).collect();
    assert_eq!(listed, named);

    let folder = ModelFolder::open(dir.path()).expect("it was just exported");
    assert_eq!(&folder.model, decoder.config());
    let (ours, again) = (dir.path().join("ours.safetensors"), dir.path().join("again.safetensors"));
    decoder.weights().write(&ours).expect("written");
    with_weights(&folder.weights, &folder.model, |tensors, _| crate::export::tensors::write(&again, tensors, None))
        .expect("imported");
    let [ours, again] = [ours, again].map(|path| TensorFile::read(&path).expect("whole"));
    for (name, tensor) in ours.tensors() {
        assert_eq!(tensor.bytes, again.tensors()[&name].bytes, "{name}");
    }
}
