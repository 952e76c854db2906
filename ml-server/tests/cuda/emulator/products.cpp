// libcublasLt.so for the tests: matrix products by their definition, column-major as there, with the options that the
// server uses. What it asks for beyond that is refused.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr int INVALID = 7, UNSUPPORTED = 15;
constexpr int F32 = 0, F16 = 2, BF16 = 14;
constexpr int TRANSPOSED = 1;

struct Layout { int type; uint64_t rows, columns; int64_t pitch; int32_t batch = 1; int64_t stride = 0; };
struct Product { int compute, scale; int32_t turn_a = 0, turn_b = 0, epilogue = 1; const void* bias = nullptr; };

size_t width(int type) { return type == F32 ? 4 : 2; }

float value(const void* data, int type, size_t at) {
    float out;
    if (type == F32) return static_cast<const float*>(data)[at];
    if (type == F16) return static_cast<float>(static_cast<const _Float16*>(data)[at]);
    uint32_t bits = static_cast<uint32_t>(static_cast<const uint16_t*>(data)[at]) << 16;
    std::memcpy(&out, &bits, 4);
    return out;
}

void store(void* data, int type, size_t at, float number) {
    if (type == F32) { static_cast<float*>(data)[at] = number; return; }
    if (type == F16) { static_cast<_Float16*>(data)[at] = static_cast<_Float16>(number); return; }
    uint32_t bits;
    std::memcpy(&bits, &number, 4);
    static_cast<uint16_t*>(data)[at] = number != number ? 0x7fff : static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// The values of a matrix as [outer][inner], where `inner` is the side that is summed over.
std::vector<float> spread(const void* data, const Layout& layout, bool inner_is_rows) {
    std::vector<float> out(layout.rows * layout.columns);
    for (uint64_t column = 0; column < layout.columns; ++column)
        for (uint64_t row = 0; row < layout.rows; ++row)
            out[inner_is_rows ? column * layout.rows + row : row * layout.columns + column] =
                value(data, layout.type, column * layout.pitch + row);
    return out;
}

float activated(float x, int kind) {
    if (kind & 2) return std::max(x, 0.0f);
    if (kind & 32) return 0.5f * x * (1.0f + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
    return x;
}

template <typename T>
int set(T& field, const void* data, size_t size) {
    if (size != sizeof(T)) return INVALID;
    std::memcpy(&field, data, size);
    return 0;
}

}  // namespace

extern "C" {

int cublasLtCreate(void** handle) { *handle = new int; return 0; }
int cublasLtDestroy(void* handle) { delete static_cast<int*>(handle); return 0; }
size_t cublasLtGetVersion() { return 130000; }
int cublasLtMatrixLayoutCreate(Layout** layout, int type, uint64_t rows, uint64_t columns, int64_t pitch) {
    *layout = new Layout{type, rows, columns, pitch};
    return pitch < static_cast<int64_t>(rows) ? INVALID : 0;
}
int cublasLtMatrixLayoutDestroy(Layout* layout) { delete layout; return 0; }
int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* data, size_t size) {
    if (attribute == 5) return set(layout->batch, data, size);
    if (attribute == 6) return set(layout->stride, data, size);
    return UNSUPPORTED;
}
int cublasLtMatmulDescCreate(Product** product, int compute, int scale) { *product = new Product{compute, scale}; return 0; }
int cublasLtMatmulDescDestroy(Product* product) { delete product; return 0; }
int cublasLtMatmulDescSetAttribute(Product* product, int attribute, const void* data, size_t size) {
    if (attribute == 3) return set(product->turn_a, data, size);
    if (attribute == 4) return set(product->turn_b, data, size);
    if (attribute == 7) return set(product->epilogue, data, size);
    if (attribute == 8) return set(product->bias, data, size);
    return UNSUPPORTED;
}
int cublasLtMatmulPreferenceCreate(void** preference) { *preference = new int; return 0; }
int cublasLtMatmulPreferenceDestroy(void* preference) { delete static_cast<int*>(preference); return 0; }
int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t) { return 0; }

struct Heuristic { uint64_t algorithm[8]; size_t workspace; int state; float waves; int reserved[4]; };
int cublasLtMatmulAlgoGetHeuristic(void*, Product*, Layout*, Layout*, Layout*, Layout*, void*, int, Heuristic* results, int* count) {
    std::memset(results, 0, sizeof *results);
    results->algorithm[0] = 1;
    *count = 1;
    return 0;
}

int cublasLtMatmul(void*, const Product* product, const float* alpha, const void* a, const Layout* la, const void* b, const Layout* lb,
                   const float* beta, const void* c, const Layout* lc, void* d, const Layout* ld, const uint64_t* algorithm,
                   void*, size_t, void*) {
    // 68 is arithmetic in f32.
    if (product->compute != 68 || product->scale != F32 || !algorithm || algorithm[0] != 1) return UNSUPPORTED;
    uint64_t m = product->turn_a == TRANSPOSED ? la->columns : la->rows, k = product->turn_a == TRANSPOSED ? la->rows : la->columns;
    uint64_t n = product->turn_b == TRANSPOSED ? lb->rows : lb->columns;
    if (k != (product->turn_b == TRANSPOSED ? lb->columns : lb->rows) || ld->rows != m || ld->columns != n || lc->rows != m || lc->columns != n)
        return INVALID;
    // A card that leaves out a part of every sum.
    uint64_t summed = std::getenv("LYRA_EMULATED_WRONG") ? k - k / 4 : k;
    for (int32_t batch = 0; batch < ld->batch; ++batch) {
        const char* from_a = static_cast<const char*>(a) + batch * la->stride * width(la->type);
        const char* from_b = static_cast<const char*>(b) + batch * lb->stride * width(lb->type);
        std::vector<float> left = spread(from_a, *la, product->turn_a == TRANSPOSED), right = spread(from_b, *lb, product->turn_b != TRANSPOSED);
        for (uint64_t column = 0; column < n; ++column)
            for (uint64_t row = 0; row < m; ++row) {
                const float *x = &left[row * k], *y = &right[column * k];
                float lanes[16] = {};
                uint64_t i = 0;
                for (; i + 16 <= summed; i += 16)
                    for (int lane = 0; lane < 16; ++lane) lanes[lane] += x[i + lane] * y[i + lane];
                float sum = 0.0f;
                for (; i < summed; ++i) sum += x[i] * y[i];
                for (float lane : lanes) sum += lane;
                sum *= *alpha;
                if (*beta != 0.0f) sum += *beta * value(static_cast<const char*>(c) + batch * lc->stride * width(lc->type), lc->type, column * lc->pitch + row);
                if (product->epilogue & 4) sum += value(product->bias, ld->type, row);
                store(static_cast<char*>(d) + batch * ld->stride * width(ld->type), ld->type, column * ld->pitch + row, activated(sum, product->epilogue));
            }
    }
    return 0;
}

}
