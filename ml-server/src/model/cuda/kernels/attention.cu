// Attention over sequences laid end to end, without ever holding a row of scores: keys come in blocks, and the running
// maximum and sum of each query's exponentials are corrected as they grow (https://arxiv.org/abs/2205.14135, algorithm 1).
//
// `qkv` is [tokens, 3 HIDDEN], queries, keys and values side by side; `out` is [tokens, HIDDEN]. A block of threads takes one
// tile of queries of one head: `tiles` holds, for each blockIdx.x, the first row of a sequence, its length, and its first
// query in the tile. Tokens see each other up to `window` apart, or all of their sequence when it is negative. `scale`
// multiplies the scores and has log2(e) in it: exponentials here are powers of 2.
//
// Relative scores (https://arxiv.org/abs/2006.03654 eq. 4) are looked up: `content` and `position`, [HEADS, stride, reach],
// hold every query and every key against rows `first` and on of the tables of distances, and `rows_of[distance + longest - 1]`
// is the table's row for query - key.
//
// Scores by distance alone (https://arxiv.org/abs/1910.10683 section 2.1) are added to the scaled score: `by_distance`,
// [HEADS, span], has them for key - query from 1 - reach to reach - 1, also with log2(e) in them. SCORES says what a model has.

enum { RELATIVE = 1, DISTANCE = 2 };

#define MINUS_INFINITY __uint_as_float(0xff800000u)

struct Relative {
    const element* content;
    const element* position;
    const int* rows_of;
    int longest;
    int first;
    int reach;
    int stride;

    // What is added to the score of `query` and `key` of the sequence that starts at row `start`.
    __device__ __forceinline__ float score(int head, int start, int query, int key) const {
        int row = rows_of[query - key + longest - 1] - first;
        long long base = static_cast<long long>(head) * stride + start;
        float sum = 0.0f;
        if (content) sum += value_of(content[(base + query) * reach + row]);
        if (position) sum += value_of(position[(base + key) * reach + row]);
        return sum;
    }
};

struct Bias {
    const float* by_distance;
    int reach;
    int span;

    __device__ __forceinline__ float score(int head, int query, int key) const {
        return by_distance[head * span + key - query + reach - 1];
    }
};

__device__ __forceinline__ int first_seen(int query, int window) {
    return window < 0 || query < window ? 0 : query - window;
}

__device__ __forceinline__ int last_seen(int query, int window, int length) {
    return window < 0 || length - 1 - query < window ? length - 1 : query + window;
}

#if ELEMENT != 32 && HEAD_DIM % 16 == 0

constexpr int WARPS = 4;
constexpr int KEYS = HEAD_DIM <= 64 ? 64 : 32;
// Rows in shared memory are 16 bytes longer than they need be, so that 8 of them lie in different banks.
constexpr int PITCH = HEAD_DIM + 8;
constexpr int STEPS = HEAD_DIM / 16;

// Starts to copy keys `first` and on, with their values, to shared memory. Rows behind the end become zeros.
__device__ __forceinline__ void fetch(
    element (&keys)[KEYS * PITCH], element (&values)[KEYS * PITCH], const element* qkv, int head, int start, int length,
    int first) {
    constexpr int PARTS = HEAD_DIM / 8;
#pragma unroll
    for (int at = static_cast<int>(threadIdx.x); at < KEYS * PARTS; at += 32 * WARPS) {
        int row = at / PARTS, column = at % PARTS * 8;
        bool wanted = first + row < length;
        const element* from = qkv + static_cast<long long>(start + (wanted ? first + row : 0)) * 3 * HIDDEN + HIDDEN
            + head * HEAD_DIM + column;
        copy_async(&keys[row * PITCH + column], from, wanted);
        copy_async(&values[row * PITCH + column], from + HIDDEN, wanted);
    }
    copy_commit();
}

// A warp takes 16 TILES queries. Lane l has, of the 16 rows of a fragment, row l / 4 and the one 8 below, and of every 8
// columns 2 (l % 4) and the next.
template <int TILES>
__device__ __forceinline__ void attend_tensor(
    const element* qkv, element* out, const int* tiles, int window, float scale, const Relative& relative,
    const Bias& bias) {
    __shared__ __align__(16) element keys[2][KEYS * PITCH];
    __shared__ __align__(16) element values[2][KEYS * PITCH];
    const int* tile = tiles + 3 * blockIdx.x;
    const int start = tile[0], length = tile[1], head = static_cast<int>(blockIdx.y);
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int block_first = tile[2];
    const int block_last = min(block_first + 16 * TILES * WARPS, length) - 1;
    const int query = block_first + warp * 16 * TILES + lane / 4;

    // Queries stay in registers.
    u32 queries[TILES][STEPS][4];
#pragma unroll
    for (int part = 0; part < TILES; ++part) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            int row = query + part * 16 + i * 8;
            const element* from = qkv + static_cast<long long>(start + min(row, length - 1)) * 3 * HIDDEN
                + head * HEAD_DIM + lane % 4 * 2;
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
                queries[part][step][i] = *reinterpret_cast<const u32*>(from + step * 16);
                queries[part][step][i + 2] = *reinterpret_cast<const u32*>(from + step * 16 + 8);
            }
        }
    }

    float sums[TILES][HEAD_DIM / 8][4] = {};
    float most[TILES][2], total[TILES][2];
#pragma unroll
    for (int part = 0; part < TILES; ++part) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            most[part][i] = MINUS_INFINITY;
            total[part][i] = 0.0f;
        }
    }

    const int begin = first_seen(block_first, window) / KEYS * KEYS;
    const int end = last_seen(block_last, window, length) + 1;
    fetch(keys[0], values[0], qkv, head, start, length, begin);
    for (int first = begin, stage = 0; first < end; first += KEYS, stage ^= 1) {
        if (first + KEYS < end) {
            fetch(keys[stage ^ 1], values[stage ^ 1], qkv, head, start, length, first + KEYS);
            copy_wait<1>();
        } else {
            copy_wait<0>();
        }
        __syncthreads();

        float scores[TILES][KEYS / 8][4] = {};
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
#pragma unroll
            for (int pair = 0; pair < KEYS / 16; ++pair) {
                u32 key[4];
                load_matrices(key, &keys[stage][(pair * 16 + lane / 16 * 8 + lane % 8) * PITCH + step * 16
                    + lane / 8 % 2 * 8]);
#pragma unroll
                for (int part = 0; part < TILES; ++part) {
                    multiply(scores[part][2 * pair], queries[part][step], key[0], key[1]);
                    multiply(scores[part][2 * pair + 1], queries[part][step], key[2], key[3]);
                }
            }
        }

        const bool edge = window >= 0 || first + KEYS > length;
#pragma unroll
        for (int part = 0; part < TILES; ++part) {
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const int row = query + part * 16 + i * 8;
                const int seen_first = first_seen(row, window), seen_last = last_seen(row, window, length);
                float highest = most[part][i];
#pragma unroll
                for (int column = 0; column < KEYS / 8; ++column) {
#pragma unroll
                    for (int j = 0; j < 2; ++j) {
                        float& score = scores[part][column][2 * i + j];
                        const int key = first + column * 8 + lane % 4 * 2 + j;
                        if (SCORES == RELATIVE && row < length && key < length)
                            score += relative.score(head, start, row, key);
                        score *= scale;
                        // A row behind the end is not written. A clamped index takes fewer registers than a condition.
                        if (SCORES == DISTANCE && key < length) score += bias.score(head, min(row, length - 1), key);
                        if (edge && (key < seen_first || key > seen_last)) score = MINUS_INFINITY;
                        highest = fmaxf(highest, score);
                    }
                }
                highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 1));
                highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, 2));
                // A row that has seen no key yet has no maximum: anything but -inf does as one.
                const float base = highest == MINUS_INFINITY ? 0.0f : highest;
                const float shrink = exp2_fast(most[part][i] - base);
                most[part][i] = highest;
                float sum = 0.0f;
#pragma unroll
                for (int column = 0; column < KEYS / 8; ++column) {
#pragma unroll
                    for (int j = 0; j < 2; ++j) {
                        float& score = scores[part][column][2 * i + j];
                        score = exp2_fast(score - base);
                        sum += score;
                    }
                }
                total[part][i] = total[part][i] * shrink + sum;
#pragma unroll
                for (int column = 0; column < HEAD_DIM / 8; ++column) {
                    sums[part][column][2 * i] *= shrink;
                    sums[part][column][2 * i + 1] *= shrink;
                }
            }
        }

#pragma unroll
        for (int step = 0; step < KEYS / 16; ++step) {
            // The scores of 16 keys lie as the first factor of the next product wants them.
            u32 weights[TILES][4];
#pragma unroll
            for (int part = 0; part < TILES; ++part) {
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    weights[part][i] = pair_of(scores[part][2 * step][2 * i], scores[part][2 * step][2 * i + 1]);
                    weights[part][i + 2] =
                        pair_of(scores[part][2 * step + 1][2 * i], scores[part][2 * step + 1][2 * i + 1]);
                }
            }
#pragma unroll
            for (int pair = 0; pair < STEPS; ++pair) {
                u32 value[4];
                load_transposed(value, &values[stage][(step * 16 + lane / 8 % 2 * 8 + lane % 8) * PITCH + pair * 16
                    + lane / 16 * 8]);
#pragma unroll
                for (int part = 0; part < TILES; ++part) {
                    multiply(sums[part][2 * pair], weights[part], value[0], value[1]);
                    multiply(sums[part][2 * pair + 1], weights[part], value[2], value[3]);
                }
            }
        }
        // The next round's copies overwrite what this one reads.
        __syncthreads();
    }

#pragma unroll
    for (int part = 0; part < TILES; ++part) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            float sum = total[part][i];
            sum += __shfl_xor_sync(0xffffffffu, sum, 1);
            sum += __shfl_xor_sync(0xffffffffu, sum, 2);
            const int row = query + part * 16 + i * 8;
            if (row >= length) continue;
            element* to = out + static_cast<long long>(start + row) * HIDDEN + head * HEAD_DIM + lane % 4 * 2;
#pragma unroll
            for (int column = 0; column < HEAD_DIM / 8; ++column)
                *reinterpret_cast<u32*>(to + column * 8) =
                    pair_of(sums[part][column][2 * i] / sum, sums[part][column][2 * i + 1] / sum);
        }
    }
}

constexpr int LONG_TILES = HEAD_DIM <= 64 ? 2 : 1;

#define ATTEND(NAME, TILES) \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, 2) NAME( \
        const element* qkv, element* out, const int* tiles, int window, float scale, Relative relative, Bias bias) { \
        attend_tensor<TILES>(qkv, out, tiles, window, scale, relative, bias); \
    } \
    EXPORT(NAME)

// Tiles of 64 queries, and of twice as many where registers allow it.
ATTEND(attend_short, 1)
ATTEND(attend_long, LONG_TILES)

#else

// Without tensor cores: a lane scores one of 32 keys, then sums up some columns of their values. For f32, where accuracy
// matters and not speed, and for heads of other widths.
constexpr int PLAIN_WARPS = 8;
constexpr int PLAIN_QUERIES = 2;
constexpr int COLUMNS = (HEAD_DIM + 31) / 32;

__device__ __forceinline__ void attend_scalar(
    const element* qkv, element* out, const int* tiles, int window, float scale, const Relative& relative,
    const Bias& bias) {
    __shared__ float keys[32][HEAD_DIM + 1];
    __shared__ float values[32][HEAD_DIM];
    __shared__ float queries[PLAIN_WARPS * PLAIN_QUERIES][HEAD_DIM];
    const int* tile = tiles + 3 * blockIdx.x;
    const int start = tile[0], length = tile[1], head = static_cast<int>(blockIdx.y), block_first = tile[2];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int block_last = min(block_first + PLAIN_WARPS * PLAIN_QUERIES, length) - 1;
    const element* base = qkv + static_cast<long long>(start) * 3 * HIDDEN + head * HEAD_DIM;

    for (int at = static_cast<int>(threadIdx.x); at < PLAIN_WARPS * PLAIN_QUERIES * HEAD_DIM; at += 32 * PLAIN_WARPS) {
        int row = min(block_first + at / HEAD_DIM, length - 1);
        queries[at / HEAD_DIM][at % HEAD_DIM] = value_of(base[static_cast<long long>(row) * 3 * HIDDEN + at % HEAD_DIM]);
    }
    float sums[PLAIN_QUERIES][COLUMNS] = {}, most[PLAIN_QUERIES], total[PLAIN_QUERIES] = {};
    for (int i = 0; i < PLAIN_QUERIES; ++i) most[i] = MINUS_INFINITY;

    const int end = last_seen(block_last, window, length) + 1;
    for (int first = first_seen(block_first, window); first < end; first += 32) {
        __syncthreads();
        for (int at = static_cast<int>(threadIdx.x); at < 32 * HEAD_DIM; at += 32 * PLAIN_WARPS) {
            int row = first + at / HEAD_DIM, column = at % HEAD_DIM;
            const element* from = base + static_cast<long long>(min(row, length - 1)) * 3 * HIDDEN + HIDDEN + column;
            keys[at / HEAD_DIM][column] = value_of(from[0]);
            values[at / HEAD_DIM][column] = value_of(from[HIDDEN]);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < PLAIN_QUERIES; ++i) {
            const int slot = warp * PLAIN_QUERIES + i, query = block_first + slot, key = first + lane;
            if (query >= length) continue;
            float score = 0.0f;
            for (int column = 0; column < HEAD_DIM; ++column) score += queries[slot][column] * keys[lane][column];
            if (SCORES == RELATIVE && key < length) score += relative.score(head, start, query, key);
            score *= scale;
            if (SCORES == DISTANCE && key < length) score += bias.score(head, query, key);
            if (key < first_seen(query, window) || key > last_seen(query, window, length)) score = MINUS_INFINITY;
            const float highest = fmaxf(most[i], warp_max(score));
            const float zero = highest == MINUS_INFINITY ? 0.0f : highest;
            const float weight = exp2f(score - zero), shrink = exp2f(most[i] - zero);
            most[i] = highest;
            total[i] = total[i] * shrink + warp_sum(weight);
#pragma unroll
            for (int column = 0; column < COLUMNS; ++column) sums[i][column] *= shrink;
            for (int other = 0; other < 32; ++other) {
                const float share = __shfl_sync(0xffffffffu, weight, other);
#pragma unroll
                for (int column = 0; column < COLUMNS; ++column)
                    if (column * 32 + lane < HEAD_DIM) sums[i][column] += share * values[other][column * 32 + lane];
            }
        }
    }
#pragma unroll
    for (int i = 0; i < PLAIN_QUERIES; ++i) {
        const int query = block_first + warp * PLAIN_QUERIES + i;
        if (query >= length) continue;
#pragma unroll
        for (int column = 0; column < COLUMNS; ++column)
            if (column * 32 + lane < HEAD_DIM)
                out[static_cast<long long>(start + query) * HIDDEN + head * HEAD_DIM + column * 32 + lane] =
                    element_of(sums[i][column] / total[i]);
    }
}

extern "C" __global__ void __launch_bounds__(32 * PLAIN_WARPS) attend_plain(
    const element* qkv, element* out, const int* tiles, int window, float scale, Relative relative, Bias bias) {
    attend_scalar(qkv, out, tiles, window, scale, relative, bias);
}
EXPORT(attend_plain)

#endif
