//! The tokenizer: one word is one move. `<bos>` goes in front; a word that is no move is an error, and never a token.

use serde_json::{Map, Value, json};

use crate::chess::vocabulary::{BOS, EOS, PAD, VOCABULARY_SIZE, uci};
use crate::model::config::ModelConfig;

/// `tokenizer.json`, as the `tokenizers` library reads it.
pub fn tokenizer() -> Value {
    let special = |id: u16| {
        json!({ "id": id, "content": uci(id), "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
                "special": true })
    };
    let vocabulary: Map<String, Value> = (0..VOCABULARY_SIZE as u16).map(|id| (uci(id).to_owned(), json!(id))).collect();
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [special(PAD), special(BOS), special(EOS)],
        "normalizer": null,
        "pre_tokenizer": { "type": "WhitespaceSplit" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{ "SpecialToken": { "id": uci(BOS), "type_id": 0 } }, { "Sequence": { "id": "A", "type_id": 0 } }],
            "pair": [
                { "SpecialToken": { "id": uci(BOS), "type_id": 0 } },
                { "Sequence": { "id": "A", "type_id": 0 } },
                { "Sequence": { "id": "B", "type_id": 0 } },
            ],
            "special_tokens": { uci(BOS): { "id": uci(BOS), "ids": [BOS], "tokens": [uci(BOS)] } },
        },
        "decoder": null,
        // The token for unknown words is none of the vocabulary, so that such a word fails.
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>" },
    })
}

/// `tokenizer_config.json`.
pub fn tokenizer_config(model: &ModelConfig) -> Value {
    json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": uci(BOS),
        "eos_token": uci(EOS),
        "pad_token": uci(PAD),
        // Left padding would move every position: right padding is exact under causal attention.
        "padding_side": "right",
        "model_max_length": model.context,
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": false,
    })
}

/// `special_tokens_map.json`.
pub fn special_tokens() -> Value {
    json!({ "bos_token": uci(BOS), "eos_token": uci(EOS), "pad_token": uci(PAD) })
}

/// What keeps a `tokenizer.json` from being of our vocabulary, if anything.
pub fn misfit(tokenizer: &Value) -> Option<String> {
    let Some(vocabulary) = tokenizer["model"]["vocab"].as_object() else {
        return Some("its `model.vocab` is no table of words".to_owned());
    };
    if vocabulary.len() != VOCABULARY_SIZE {
        return Some(format!("it has {} words, and {VOCABULARY_SIZE} are wanted", vocabulary.len()));
    }
    let odd = (0..VOCABULARY_SIZE as u16).find(|&id| vocabulary.get(uci(id)).and_then(Value::as_u64) != Some(u64::from(id)))?;
    Some(format!("`{}` is {} there, and {odd} is wanted", uci(odd), vocabulary.get(uci(odd)).unwrap_or(&Value::Null)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokenizer_has_every_token_under_its_number_and_another_order_is_seen() {
        let mut tokenizer = tokenizer();
        assert_eq!(misfit(&tokenizer), None);
        assert_eq!(tokenizer["model"]["vocab"]["h8h7"], 1970);
        tokenizer["model"]["vocab"]["a1a2"] = json!(4);
        assert_eq!(misfit(&tokenizer).as_deref(), Some("`a1a2` is 4 there, and 3 is wanted"));
        tokenizer["model"]["vocab"].as_object_mut().expect("a table").remove("a1a2");
        assert_eq!(misfit(&tokenizer).as_deref(), Some("it has 1970 words, and 1971 are wanted"));
        assert!(misfit(&json!({ "model": { "vocab": [["a", 0.0]] } })).is_some());
    }
}
