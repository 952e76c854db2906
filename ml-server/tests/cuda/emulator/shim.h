// CUDA C++ on the CPU, for the tests: compiled in front of the kernels' own sources in place of `intrinsics.cu`'s PTX.
//
// A block's threads are fibers that take turns; each runs until it meets a barrier, of its block or of its warp. A launch
// runs its blocks one after the other. Asynchronous copies arrive only when they are waited for, and a thread runs until it
// has to wait for others, so that a missing wait or barrier shows in the numbers.
#pragma once

#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// One block runs at a time, so there is one copy.
#define __shared__ static

typedef unsigned short u16;
typedef unsigned int u32;
struct uint4 { u32 x, y, z, w; };
inline uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }
struct dim3 { u32 x, y, z; };
inline int min(int a, int b) { return a < b ? a : b; }
inline float __uint_as_float(u32 bits) { float value; std::memcpy(&value, &bits, 4); return value; }
inline u32 __float_as_uint(float value) { u32 bits; std::memcpy(&bits, &value, 4); return bits; }

namespace emulator {

constexpr size_t STACK = 256 << 10;

struct Copy { void* to; const void* from; bool wanted; };

struct Fiber {
    jmp_buf state;
    std::vector<char> stack = std::vector<char>(STACK);
    dim3 index;
    bool started, finished;
    u32 exchange[8];
    const void* address;
    std::vector<std::vector<Copy>> groups;
    std::vector<Copy> open;
};

// Threads that wait for each other.
struct Barrier { int waiting = 0; unsigned long generation = 0; };

struct Machine {
    std::vector<Fiber*> fibers;
    jmp_buf scheduler;
    ucontext_t entry, home;
    int current = 0, count = 0, alive = 0;
    Barrier block;
    std::vector<Barrier> warps;
    dim3 block_index, block_dim, grid_dim;
    void (*body)(void*) = nullptr;
    void* arguments = nullptr;
};

inline Machine machine;

inline Fiber& self() { return *machine.fibers[machine.current]; }
inline int lane() { return machine.current % 32; }
inline Fiber& of_lane(int lane) { return *machine.fibers[machine.current / 32 * 32 + lane]; }

[[noreturn]] inline void fail(const char* reason) {
    std::fprintf(stderr, "emulator: %s\n", reason);
    std::abort();
}

inline void pause() {
    if (!_setjmp(self().state)) _longjmp(machine.scheduler, 1);
}

inline void meet(Barrier& barrier, int expected) {
    if (++barrier.waiting == expected) {
        barrier.waiting = 0;
        ++barrier.generation;
        return;
    }
    for (unsigned long seen = barrier.generation; barrier.generation == seen;) pause();
}

inline void meet_warp() { meet(machine.warps[machine.current / 32], 32); }

inline void run_fiber() {
    machine.body(machine.arguments);
    if (!self().open.empty() || !self().groups.empty()) fail("a kernel ended with copies on their way");
    self().finished = true;
    --machine.alive;
    _longjmp(machine.scheduler, 1);
}

inline void run_block() {
    machine.alive = machine.count;
    machine.block = {};
    machine.warps.assign((machine.count + 31) / 32, {});
    for (int i = 0; i < machine.count; ++i) {
        Fiber& fiber = *machine.fibers[i];
        fiber.started = fiber.finished = false;
        fiber.groups.clear();
        fiber.open.clear();
        dim3 shape = machine.block_dim;
        fiber.index = {i % shape.x, i / shape.x % shape.y, i / (shape.x * shape.y)};
    }
    while (machine.alive > 0) {
        for (machine.current = 0; machine.current < machine.count; ++machine.current) {
            Fiber& fiber = self();
            if (fiber.finished || _setjmp(machine.scheduler)) continue;
            if (fiber.started) _longjmp(fiber.state, 1);
            fiber.started = true;
            getcontext(&machine.entry);
            machine.entry.uc_stack.ss_sp = fiber.stack.data();
            machine.entry.uc_stack.ss_size = STACK;
            machine.entry.uc_link = nullptr;
            makecontext(&machine.entry, run_fiber, 0);
            setcontext(&machine.entry);
        }
    }
}

inline void launch(void (*body)(void*), void* arguments, dim3 grid, dim3 block) {
    machine.body = body;
    machine.arguments = arguments;
    machine.grid_dim = grid;
    machine.block_dim = block;
    machine.count = static_cast<int>(block.x * block.y * block.z);
    if (machine.count % 32) fail("blocks are whole warps here");
    while (static_cast<int>(machine.fibers.size()) < machine.count) machine.fibers.push_back(new Fiber);
    for (u32 z = 0; z < grid.z; ++z)
        for (u32 y = 0; y < grid.y; ++y)
            for (u32 x = 0; x < grid.x; ++x) {
                machine.block_index = {x, y, z};
                run_block();
            }
}

typedef void (*Launcher)(void** parameters, dim3 grid, dim3 block);
inline std::map<std::string, Launcher>& kernels() {
    static std::map<std::string, Launcher> known;
    return known;
}

template <auto KERNEL> struct Exported;
template <typename... Arguments, void (*KERNEL)(Arguments...)>
struct Exported<KERNEL> {
    template <size_t... I>
    static void call(void** parameters, std::index_sequence<I...>) {
        KERNEL(*static_cast<Arguments*>(parameters[I])...);
    }
    static void body(void* parameters) {
        call(static_cast<void**>(parameters), std::index_sequence_for<Arguments...>{});
    }
    static void launch(void** parameters, dim3 grid, dim3 block) { emulator::launch(body, parameters, grid, block); }
};

struct Register {
    Register(const char* name, Launcher launcher) { kernels()[name] = launcher; }
};

inline float half_value(u16 bits) { _Float16 value; std::memcpy(&value, &bits, 2); return static_cast<float>(value); }
inline float bf16_value(u16 bits) { return __uint_as_float(static_cast<u32>(bits) << 16); }

// Every lane lays its fragments open, then computes its own part of c from all of them.
template <float (*VALUE)(u16)>
void mma(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) {
    u32* mine = self().exchange;
    std::memcpy(mine, a, sizeof a);
    mine[4] = b0;
    mine[5] = b1;
    meet_warp();
    int group = lane() / 4, column = lane() % 4 * 2;
    for (int i = 0; i < 4; ++i) {
        int row = group + (i >= 2 ? 8 : 0), n = column + i % 2;
        float sum = c[i];
        for (int k = 0; k < 16; ++k) {
            // a: register 0 has row g and columns 2t; 1 has row g + 8; 2 and 3 the same, 8 columns on.
            u32 first = of_lane(row % 8 * 4 + k % 8 / 2).exchange[(row >= 8 ? 1 : 0) + (k >= 8 ? 2 : 0)];
            // b: register 0 has rows 2t and column g; 1 is 8 rows below.
            u32 second = of_lane(n * 4 + k % 8 / 2).exchange[4 + (k >= 8 ? 1 : 0)];
            int shift = k % 2 * 16;
            sum += VALUE(static_cast<u16>(first >> shift)) * VALUE(static_cast<u16>(second >> shift));
        }
        c[i] = sum;
    }
    meet_warp();
}

inline void load_matrices(u32 (&out)[4], const void* row, bool transposed) {
    if (reinterpret_cast<uintptr_t>(row) % 16) fail("ldmatrix rows start at a multiple of 16 bytes");
    self().address = row;
    meet_warp();
    int down = lane() / 4, across = lane() % 4 * 2;
    for (int matrix = 0; matrix < 4; ++matrix) {
        u16 pair[2];
        for (int i = 0; i < 2; ++i) {
            int r = transposed ? across + i : down, column = transposed ? down : across + i;
            pair[i] = static_cast<const u16*>(of_lane(matrix * 8 + r).address)[column];
        }
        out[matrix] = static_cast<u32>(pair[0]) | static_cast<u32>(pair[1]) << 16;
    }
    meet_warp();
}

}  // namespace emulator

#define threadIdx (emulator::self().index)
#define blockIdx (emulator::machine.block_index)
#define blockDim (emulator::machine.block_dim)
#define gridDim (emulator::machine.grid_dim)

inline void __syncthreads() { emulator::meet(emulator::machine.block, emulator::machine.alive); }

inline float from_lane(float value, int lane) {
    emulator::self().exchange[0] = __float_as_uint(value);
    emulator::meet_warp();
    float other = __uint_as_float(emulator::of_lane(lane).exchange[0]);
    emulator::meet_warp();
    return other;
}
inline float __shfl_sync(u32, float value, int lane) { return from_lane(value, lane); }
inline float __shfl_xor_sync(u32, float value, int mask) { return from_lane(value, emulator::lane() ^ mask); }

inline u16 bf16_bits(float value) {
    u32 bits = __float_as_uint(value);
    if (value != value) return 0x7fff;
    return static_cast<u16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline u32 bf16_pair(float low, float high) { return bf16_bits(low) | static_cast<u32>(bf16_bits(high)) << 16; }
inline float f16_value(u16 bits) { return emulator::half_value(bits); }
inline u16 f16_bits(float value) { _Float16 half = static_cast<_Float16>(value); u16 bits; std::memcpy(&bits, &half, 2); return bits; }
inline u32 f16_pair(float low, float high) { return f16_bits(low) | static_cast<u32>(f16_bits(high)) << 16; }
inline float exp2_fast(float value) { return exp2f(value); }
inline void mma_bf16(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) { emulator::mma<emulator::bf16_value>(c, a, b0, b1); }
inline void mma_f16(float (&c)[4], const u32 (&a)[4], u32 b0, u32 b1) { emulator::mma<emulator::half_value>(c, a, b0, b1); }
inline void load_matrices(u32 (&out)[4], const void* row) { emulator::load_matrices(out, row, false); }
inline void load_transposed(u32 (&out)[4], const void* row) { emulator::load_matrices(out, row, true); }

inline void copy_async(void* to, const void* from, bool wanted) {
    if (reinterpret_cast<uintptr_t>(to) % 16 || reinterpret_cast<uintptr_t>(from) % 16)
        emulator::fail("cp.async of 16 bytes wants addresses that are a multiple of 16");
    emulator::self().open.push_back({to, from, wanted});
}
inline void copy_commit() {
    emulator::self().groups.push_back(std::move(emulator::self().open));
    emulator::self().open.clear();
}
template <int PENDING>
inline void copy_wait() {
    auto& groups = emulator::self().groups;
    while (groups.size() > PENDING) {
        for (auto& copy : groups.front())
            if (copy.wanted) std::memcpy(copy.to, copy.from, 16); else std::memset(copy.to, 0, 16);
        groups.erase(groups.begin());
    }
}

#define EXPORT(kernel) \
    static emulator::Register register_##kernel(#kernel, emulator::Exported<&kernel>::launch);

// What the driver calls: false where there is no such kernel. With a null grid it only looks the name up.
extern "C" inline __attribute__((used, visibility("default"))) bool lyra_emulated_launch(
    const char* name, const u32* grid, const u32* block, void** parameters) {
    auto found = emulator::kernels().find(name);
    if (found == emulator::kernels().end()) return false;
    if (grid) found->second(parameters, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]});
    return true;
}
