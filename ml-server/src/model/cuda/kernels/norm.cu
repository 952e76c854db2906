// Row-wise kernels: a warp holds one row of HIDDEN values in registers, lane l the vectors l, l + 32, ...

constexpr int ROW_CHUNKS = (HIDDEN + 32 * VECTOR - 1) / (32 * VECTOR);
constexpr int ROW_WARPS = 4;

struct Row {
    float values[ROW_CHUNKS][VECTOR];

    // Runs `body(values of the chunk, first column)` for the chunks that this lane has.
    template <typename Body>
    __device__ __forceinline__ void each(Body body) {
#pragma unroll
        for (int chunk = 0; chunk < ROW_CHUNKS; ++chunk) {
            int column = (chunk * 32 + static_cast<int>(threadIdx.x)) * VECTOR;
            if (column < HIDDEN) body(values[chunk], column);
        }
    }

    __device__ __forceinline__ void read(const element* row) {
        each([&](float (&part)[VECTOR], int column) { load(row + column, part); });
    }

    __device__ __forceinline__ void add(const element* row) {
        each([&](float (&part)[VECTOR], int column) {
            float other[VECTOR];
            load(row + column, other);
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) part[i] += other[i];
        });
    }

    __device__ __forceinline__ void write(element* row) {
        each([&](float (&part)[VECTOR], int column) { store(row + column, part); });
    }

    // Layer normalization, https://arxiv.org/abs/1607.06450 eq. 4, with the variance about the mean in a second pass.
    __device__ __forceinline__ void normalise(const float* gain, const float* offset, float epsilon) {
        float sum = 0.0f;
        each([&](float (&part)[VECTOR], int) {
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) sum += part[i];
        });
        float mean = warp_sum(sum) / HIDDEN;
        float squares = 0.0f;
        each([&](float (&part)[VECTOR], int) {
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) squares += (part[i] - mean) * (part[i] - mean);
        });
        float scale = 1.0f / sqrtf(warp_sum(squares) / HIDDEN + epsilon);
        each([&](float (&part)[VECTOR], int column) {
#pragma unroll
            for (int i = 0; i < VECTOR; ++i)
                part[i] = (part[i] - mean) * scale * gain[column + i] + offset[column + i];
        });
    }
};

__device__ __forceinline__ int warp_row() {
    return static_cast<int>(blockIdx.x) * ROW_WARPS + static_cast<int>(threadIdx.y);
}

// norm(words[id] + positions[place] + segments[type]); without the last two where they are null.
extern "C" __global__ void __launch_bounds__(32 * ROW_WARPS) embed(
    const element* words, const element* positions, const element* segments, const int* ids, const int* places,
    const int* types, const float* gain, const float* offset, float epsilon, element* out, int rows) {
    int row = warp_row();
    if (row >= rows) return;
    Row sum;
    sum.read(words + static_cast<long long>(ids[row]) * HIDDEN);
    if (positions) sum.add(positions + static_cast<long long>(places[row]) * HIDDEN);
    if (segments) sum.add(segments + static_cast<long long>(types[row]) * HIDDEN);
    sum.normalise(gain, offset, epsilon);
    sum.write(out + static_cast<long long>(row) * HIDDEN);
}
EXPORT(embed)

// sum = x + y, out = norm(sum). `y` may be null: then nothing is added. `sum` may be null or x itself, `out` may be x.
extern "C" __global__ void __launch_bounds__(32 * ROW_WARPS) add_norm(
    const element* x, const element* y, element* sum, const float* gain, const float* offset, float epsilon,
    element* out, int rows) {
    int row = warp_row();
    if (row >= rows) return;
    long long at = static_cast<long long>(row) * HIDDEN;
    Row values;
    values.read(x + at);
    if (y) values.add(y + at);
    if (sum) values.write(sum + at);
    values.normalise(gain, offset, epsilon);
    values.write(out + at);
}
EXPORT(add_norm)

constexpr int POOL_GROUPS = 8;

// One vector per sequence, in f32: the average over its tokens, or the first one's vector. `spans` holds the first row and
// the number of rows of each. Each row of threads adds up every eighth token, and the first adds up the rest.
extern "C" __global__ void __launch_bounds__(32 * POOL_GROUPS) pool(
    const element* x, const int* spans, float* out, int mean) {
    __shared__ float sums[POOL_GROUPS][32][VECTOR + 1];
    int column = (static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x)) * VECTOR;
    int group = static_cast<int>(threadIdx.y);
    int first = spans[2 * blockIdx.y], length = mean ? spans[2 * blockIdx.y + 1] : 1;
    float sum[VECTOR] = {};
    if (column < HIDDEN) {
        for (int token = group; token < length; token += POOL_GROUPS) {
            float part[VECTOR];
            load(x + static_cast<long long>(first + token) * HIDDEN + column, part);
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) sum[i] += part[i];
        }
    }
#pragma unroll
    for (int i = 0; i < VECTOR; ++i) sums[group][threadIdx.x][i] = sum[i];
    __syncthreads();
    if (group > 0 || column >= HIDDEN) return;
    for (int i = 0; i < VECTOR; ++i) {
        float total = 0.0f;
        for (int other = 0; other < POOL_GROUPS; ++other) total += sums[other][threadIdx.x][i];
        out[static_cast<long long>(blockIdx.y) * HIDDEN + column + i] = total / length;
    }
}
EXPORT(pool)

// The vectors of some rows of x in f32: those whose numbers are in `rows`.
extern "C" __global__ void __launch_bounds__(32 * ROW_WARPS) gather(
    const element* x, const int* rows, float* out, int count) {
    int at = warp_row();
    if (at >= count) return;
    Row row;
    row.read(x + static_cast<long long>(rows[at]) * HIDDEN);
    float* to = out + static_cast<long long>(at) * HIDDEN;
    row.each([&](float (&part)[VECTOR], int column) {
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) to[column + i] = part[i];
    });
}
EXPORT(gather)
