//! `config.json` and `generation_config.json`: the shape of the model in Llama's words.

use serde_json::{Map, Value, json};

use crate::chess::vocabulary::{BOS, EOS, PAD, VOCABULARY_SIZE};
use crate::model::config::ModelConfig;

const NORM_EPS: f64 = 1e-6;
const ROPE_THETA: f64 = 10_000.0;

/// `config.json`.
pub fn config(model: &ModelConfig) -> Value {
    json!({
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": VOCABULARY_SIZE,
        "hidden_size": model.width,
        "intermediate_size": model.hidden,
        "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads,
        "num_key_value_heads": model.heads,
        "head_dim": model.width / model.heads,
        "max_position_embeddings": model.context,
        "hidden_act": "silu",
        "rms_norm_eps": NORM_EPS,
        "rope_theta": ROPE_THETA,
        "rope_scaling": null,
        "attention_bias": false,
        "attention_dropout": 0.0,
        "mlp_bias": false,
        "tie_word_embeddings": true,
        "initializer_range": 0.02,
        "pretraining_tp": 1,
        "use_cache": true,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "pad_token_id": PAD,
        "torch_dtype": "float32",
    })
}

/// `generation_config.json`: the most likely move, until the game or the context ends.
pub fn generation(model: &ModelConfig) -> Value {
    json!({
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "pad_token_id": PAD,
        "do_sample": false,
        "max_length": model.context,
    })
}

/// Whether a `config.json` is one of `transformers`, and not our own.
pub fn is_hf(config: &Value) -> bool {
    config.get("model_type").is_some() || config.get("architectures").is_some() || config.get("hidden_size").is_some()
}

/// The shape that a Llama's `config.json` tells.
///
/// # Errors
///
/// Everything in which the model is another than our decoder.
pub fn shape(config: &Value) -> Result<ModelConfig, Vec<String>> {
    let mut problems = Vec::new();
    let mut number = |key: &str| {
        let found = config[key].as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
        if found.is_none() {
            problems.push(format!("`{key}` is {}, and a whole number above 0 is wanted", config[key]));
        }
        found.unwrap_or(1)
    };
    let model = ModelConfig {
        layers: number("num_hidden_layers"),
        heads: number("num_attention_heads"),
        width: number("hidden_size"),
        hidden: number("intermediate_size"),
        context: number("max_position_embeddings"),
    };
    // Left out, a key has the value that Llama's configuration has by default.
    let rope = config.get("rope_parameters").or(config.get("rope_scaling")).and_then(Value::as_object);
    let rope = rope.cloned().unwrap_or_else(Map::new);
    let theta = config.get("rope_theta").or(rope.get("rope_theta")).cloned().unwrap_or(json!(ROPE_THETA));
    let kind = rope.get("rope_type").or(rope.get("type")).cloned().unwrap_or(json!("default"));
    let wanted = [
        ("model_type", config["model_type"].clone(), json!("llama")),
        ("vocab_size", config["vocab_size"].clone(), json!(VOCABULARY_SIZE)),
        ("num_key_value_heads", or(config, "num_key_value_heads", json!(model.heads)), json!(model.heads)),
        ("head_dim", or(config, "head_dim", json!(model.width / model.heads)), json!(model.width / model.heads)),
        ("hidden_act", or(config, "hidden_act", json!("silu")), json!("silu")),
        ("rms_norm_eps", or(config, "rms_norm_eps", json!(1e-6)), json!(NORM_EPS)),
        ("rope_theta", theta, json!(ROPE_THETA)),
        ("rope_type", kind, json!("default")),
        ("attention_bias", or(config, "attention_bias", json!(false)), json!(false)),
        ("mlp_bias", or(config, "mlp_bias", json!(false)), json!(false)),
    ];
    for (key, seen, wanted) in wanted {
        let same = match (seen.as_f64(), wanted.as_f64()) {
            (Some(seen), Some(wanted)) => (seen - wanted).abs() <= 1e-9 * wanted.abs(),
            _ => seen == wanted,
        };
        if !same {
            problems.push(format!("`{key}` is {seen}, and {wanted} is wanted{}", because(key)));
        }
    }
    if problems.is_empty() { Ok(model) } else { Err(problems) }
}

fn or(config: &Value, key: &str, default: Value) -> Value {
    config.get(key).filter(|value| !value.is_null()).cloned().unwrap_or(default)
}

/// Why nothing else will do.
fn because(key: &str) -> &'static str {
    match key {
        "vocab_size" => ", one token for each move",
        "num_key_value_heads" => ": grouped queries are not what our decoder has",
        "head_dim" => ": heads are cut from the width",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: ModelConfig = ModelConfig { layers: 3, heads: 4, width: 64, hidden: 192, context: 64 };

    #[test]
    fn a_shape_comes_back_from_the_config_it_was_written_to_also_in_the_form_of_newer_versions() {
        let written = config(&MODEL);
        assert_eq!(shape(&written), Ok(MODEL));
        let mut newer = written;
        let fields = newer.as_object_mut().expect("an object");
        fields.remove("rope_theta");
        fields.remove("rope_scaling");
        fields.remove("head_dim");
        fields.insert("rope_parameters".into(), json!({ "rope_theta": 10_000.0, "rope_type": "default" }));
        assert_eq!(shape(&newer), Ok(MODEL));
        assert!(is_hf(&newer) && !is_hf(&serde_json::to_value(MODEL).expect("JSON")));
    }

    #[test]
    fn another_architecture_is_refused_with_each_reason() {
        for (key, value, said) in [
            ("num_key_value_heads", json!(2), "`num_key_value_heads` is 2, and 4 is wanted: grouped queries"),
            ("vocab_size", json!(32_000), "`vocab_size` is 32000, and 1971 is wanted"),
            ("attention_bias", json!(true), "`attention_bias` is true, and false is wanted"),
            ("rope_theta", json!(500_000.0), "`rope_theta` is 500000.0, and 10000.0 is wanted"),
            ("rope_scaling", json!({ "rope_type": "llama3" }), "`rope_type` is \"llama3\""),
            ("rms_norm_eps", json!(1e-5), "`rms_norm_eps` is 0.00001, and 1e-6 is wanted"),
            ("head_dim", json!(32), "`head_dim` is 32, and 16 is wanted"),
            ("model_type", json!("gpt2"), "`model_type` is \"gpt2\""),
            ("hidden_size", json!("wide"), "`hidden_size` is \"wide\", and a whole number above 0 is wanted"),
        ] {
            let mut odd = config(&MODEL);
            odd[key] = value;
            let problems = shape(&odd).expect_err(key);
            assert!(problems.iter().any(|problem| problem.contains(said)), "{key}: {problems:?}");
        }
        assert!(shape(&json!({})).expect_err("nothing is there").len() > 5);
    }
}
