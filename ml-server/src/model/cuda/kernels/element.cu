// The type that weights and activations have on the device (ELEMENT is 16 for bf16, 17 for f16, 32 for f32), and rows of it.
// All arithmetic is in f32. HIDDEN and HEAD_DIM are the model's; every row starts at a multiple of 16 bytes.

#if ELEMENT == 32
typedef float element;
__device__ __forceinline__ float value_of(element bits) { return bits; }
__device__ __forceinline__ element element_of(float value) { return value; }
#elif ELEMENT == 17
typedef u16 element;
__device__ __forceinline__ float value_of(element bits) { return f16_value(bits); }
__device__ __forceinline__ element element_of(float value) { return f16_bits(value); }
__device__ __forceinline__ u32 pair_of(float low, float high) { return f16_pair(low, high); }
__device__ __forceinline__ void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) { mma_f16(c, a, b0, b1); }
#else
typedef u16 element;
__device__ __forceinline__ float value_of(element bits) { return __uint_as_float(static_cast<u32>(bits) << 16); }
__device__ __forceinline__ element element_of(float value) { return bf16_bits(value); }
__device__ __forceinline__ u32 pair_of(float low, float high) { return bf16_pair(low, high); }
__device__ __forceinline__ void multiply(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) { mma_bf16(c, a, b0, b1); }
#endif

constexpr int HEADS = HIDDEN / HEAD_DIM;
// Elements in 16 bytes, the widest access.
constexpr int VECTOR = 16 / sizeof(element);

union Packed {
    uint4 bits;
    element values[VECTOR];
};

__device__ __forceinline__ void load(const element* from, float (&to)[VECTOR]) {
    Packed packed;
    packed.bits = *reinterpret_cast<const uint4*>(from);
#pragma unroll
    for (int i = 0; i < VECTOR; ++i) to[i] = value_of(packed.values[i]);
}

__device__ __forceinline__ void store(element* to, const float (&from)[VECTOR]) {
    Packed packed;
#pragma unroll
    for (int i = 0; i < VECTOR; ++i) packed.values[i] = element_of(from[i]);
    *reinterpret_cast<uint4*>(to) = packed.bits;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}
