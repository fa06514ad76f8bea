//! Loops for the widest vectors that a processor has, though the program is built for any.

/// Makes a function that is compiled for AVX-512, for AVX2 and for any processor, and runs as the widest that this one has.
/// Sums keep their order and no product is fused with a sum, so the results are the same to the last bit.
macro_rules! by_lanes {
    ($(#[$attribute:meta])* $visible:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $work:block) => {
        $(#[$attribute])*
        $visible fn $name($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn work($($argument: $type),*) $(-> $result)? $work

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn by_512_bits($($argument: $type),*) $(-> $result)? {
                    work($($argument),*)
                }
                #[target_feature(enable = "avx2")]
                fn by_256_bits($($argument: $type),*) $(-> $result)? {
                    work($($argument),*)
                }
                if is_x86_feature_detected!("avx512f") {
                    #[expect(unsafe_code, reason = "compiled for vectors that not every processor has")]
                    // SAFETY: this one has them, as was just asked.
                    return unsafe { by_512_bits($($argument),*) };
                }
                if is_x86_feature_detected!("avx2") {
                    #[expect(unsafe_code, reason = "compiled for vectors that not every processor has")]
                    // SAFETY: this one has them, as was just asked.
                    return unsafe { by_256_bits($($argument),*) };
                }
            }
            work($($argument),*)
        }
    };
}

pub(super) use by_lanes;
