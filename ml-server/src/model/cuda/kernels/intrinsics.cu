// What has no C++ spelling: instructions of the tensor cores, of asynchronous copies, and of conversions. NVIDIA's headers
// are not needed for any of them. The emulator of the tests defines the same functions in C++, after the tables of
// fragments in the PTX manual ("Matrix Fragments for mma.m16n8k16", "ldmatrix").
#ifndef LYRA_EMULATED

typedef unsigned short u16;
typedef unsigned int u32;

__device__ __forceinline__ u32 shared_address(const void* pointer) {
    return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ u16 bf16_bits(float value) {
    u16 bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

__device__ __forceinline__ u32 bf16_pair(float low, float high) {
    u32 bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}

__device__ __forceinline__ float f16_value(u16 bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

__device__ __forceinline__ u16 f16_bits(float value) {
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

__device__ __forceinline__ u32 f16_pair(float low, float high) {
    u32 bits;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}

// 2 to the power of `value`; -inf gives 0.
__device__ __forceinline__ float exp2_fast(float value) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(value));
    return power;
}

// c += a b, with a of 16x16, b of 16x8 and c of 16x8 spread over the warp.
__device__ __forceinline__ void mma_bf16(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void mma_f16(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four matrices of 8x8 halves: lane 8 i + j gives the address of row j of matrix i and gets, of every matrix, the pair
// in row lane / 4 and columns 2 (lane % 4) and the next.
__device__ __forceinline__ void load_matrices(u32 (&out)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
        : "r"(shared_address(row)) : "memory");
}

// The same of the transposed matrices.
__device__ __forceinline__ void load_transposed(u32 (&out)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
        : "r"(shared_address(row)) : "memory");
}

// Starts a copy of 16 bytes to shared memory; zeros arrive where not `wanted`, and `from` is not read.
__device__ __forceinline__ void copy_async(void* to, const void* from, bool wanted) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
        :: "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(wanted ? 16 : 0) : "memory");
}

// Closes a group of copies.
__device__ __forceinline__ void copy_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `PENDING` groups are still on their way.
template <int PENDING>
__device__ __forceinline__ void copy_wait() {
    asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory");
}

// Makes a kernel known by its name; only the emulator needs telling.
#define EXPORT(kernel)

#endif
