//! Loops for the widest vectors that a processor has, though the program is built for any.

/// Does work whose loops are compiled for AVX-512 or AVX2 where this processor has them. Sums keep their order and no product
/// is fused with a sum, so the result is the same to the last bit.
pub(super) fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn by_512_bits<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        #[target_feature(enable = "avx2")]
        fn by_256_bits<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        if is_x86_feature_detected!("avx512f") {
            #[expect(unsafe_code, reason = "compiled for vectors that not every processor has")]
            // SAFETY: this one has them, as was just asked.
            return unsafe { by_512_bits(work) };
        }
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "compiled for vectors that not every processor has")]
            // SAFETY: this one has them, as was just asked.
            return unsafe { by_256_bits(work) };
        }
    }
    work()
}
