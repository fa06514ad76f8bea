pub const VOCABULARY_SIZE: usize = 1971;
