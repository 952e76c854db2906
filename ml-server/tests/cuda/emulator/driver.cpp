// libcuda.so for the tests: the functions that the server calls, over the CPU's memory. Every allocation ends at a page
// that may not be touched, so that reading or writing past one stops the process, and is filled with NaNs.
// LYRA_EMULATED_MEMORY limits the bytes that can be allocated; LYRA_EMULATED_FAILS_AFTER lets the context die after that
// many launches.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr int OK = 0, OUT_OF_MEMORY = 2, NO_BINARY = 209, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700;
constexpr size_t PAGE = 4096;

struct Kernel { bool (*launch)(const char*, const uint32_t*, const uint32_t*, void**); std::string name; };

std::map<uintptr_t, size_t> allocations;
size_t allocated = 0;

size_t limit() {
    const char* set = std::getenv("LYRA_EMULATED_MEMORY");
    return set ? std::strtoull(set, nullptr, 10) : size_t(8) << 30;
}

bool dead() {
    const char* file = std::getenv("LYRA_EMULATED_FAILS_ONCE");
    return file && access(file, F_OK) == 0;
}

int context() { return dead() ? ILLEGAL_ADDRESS : OK; }

size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

}  // namespace

extern "C" {

int cuInit(unsigned) { return OK; }
int cuDriverGetVersion(int* version) { *version = 13000; return OK; }
int cuDeviceGetCount(int* count) { *count = 1; return OK; }
int cuDeviceGet(int* device, int ordinal) { *device = 0; return ordinal == 0 ? OK : 101; }
int cuDeviceGetName(char* name, int length, int) { std::snprintf(name, length, "emulated"); return OK; }
int cuDeviceTotalMem_v2(size_t* bytes, int) { *bytes = limit(); return OK; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
    // 75 and 76 are the compute capability, 16 the number of multiprocessors; memory pools (115) are absent.
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 2 : 0;
    return OK;
}
int cuDevicePrimaryCtxRetain(void** context, int) { *context = &allocations; return OK; }
int cuDevicePrimaryCtxRelease_v2(int) { return OK; }
int cuCtxSetCurrent(void*) { return OK; }
int cuCtxGetCurrent(void** context) { *context = &allocations; return OK; }
int cuCtxSynchronize() { return context(); }
int cuMemGetInfo_v2(size_t* free, size_t* total) { *total = limit(); *free = limit() - allocated; return OK; }
int cuGetErrorName(int error, const char** name) {
    *name = error == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR";
    return OK;
}
int cuGetErrorString(int error, const char** text) {
    *text = error == OUT_OF_MEMORY ? "out of memory" : error == ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "emulated error";
    return OK;
}

int cuStreamCreate(void** stream, unsigned) { *stream = &allocated; return OK; }
int cuStreamDestroy_v2(void*) { return OK; }
int cuStreamSynchronize(void*) { return context(); }
int cuStreamWaitEvent(void*, void*, unsigned) { return context(); }
int cuEventCreate(void** event, unsigned) { *event = &allocated; return OK; }
int cuEventDestroy_v2(void*) { return OK; }
int cuEventRecord(void*, void*) { return context(); }
int cuEventSynchronize(void*) { return context(); }

int cuMemAlloc_v2(uint64_t* pointer, size_t bytes) {
    if (dead()) return ILLEGAL_ADDRESS;
    if (bytes == 0) return 1;
    if (allocated + bytes > limit()) return OUT_OF_MEMORY;
    char* base = static_cast<char*>(mmap(nullptr, pages(bytes) + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base == MAP_FAILED || mprotect(base + pages(bytes), PAGE, PROT_NONE)) return OUT_OF_MEMORY;
    std::memset(base, 0xff, pages(bytes));
    uintptr_t start = reinterpret_cast<uintptr_t>(base) + pages(bytes) - (bytes + 15) / 16 * 16;
    allocations[start] = bytes;
    allocated += bytes;
    *pointer = start;
    return OK;
}
int cuMemFree_v2(uint64_t pointer) {
    auto found = allocations.find(pointer);
    if (found == allocations.end()) return 1;
    size_t bytes = found->second;
    munmap(reinterpret_cast<void*>(pointer / PAGE * PAGE), pages(bytes) + PAGE);
    allocated -= bytes;
    allocations.erase(found);
    return OK;
}
int cuMemHostAlloc(void** pointer, size_t bytes, unsigned) { *pointer = std::aligned_alloc(64, (bytes + 63) / 64 * 64); return OK; }
int cuMemFreeHost(void* pointer) { std::free(pointer); return OK; }
int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
    if (dead()) return ILLEGAL_ADDRESS;
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return OK;
}
int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
    if (dead()) return ILLEGAL_ADDRESS;
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return OK;
}
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void*) {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return OK;
}

// A module is the shared library that the emulated compiler made. Its header says how long it is.
int cuModuleLoadData(void** module, const void* image) {
    const auto* header = static_cast<const Elf64_Ehdr*>(image);
    if (std::memcmp(header->e_ident, ELFMAG, SELFMAG)) return NO_BINARY;
    size_t bytes = header->e_shoff + size_t(header->e_shnum) * header->e_shentsize;
    char path[] = "/tmp/lyra-emulated-XXXXXX";
    int file = mkstemp(path);
    if (file < 0 || write(file, image, bytes) != static_cast<ssize_t>(bytes)) return NO_BINARY;
    close(file);
    *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    if (!*module) std::fprintf(stderr, "emulator: %s\n", dlerror());
    return *module ? OK : NO_BINARY;
}
int cuModuleUnload(void*) { return OK; }
int cuModuleGetFunction(void** function, void* module, const char* name) {
    auto launch = reinterpret_cast<bool (*)(const char*, const uint32_t*, const uint32_t*, void**)>(dlsym(module, "lyra_emulated_launch"));
    if (!launch || !launch(name, nullptr, nullptr, nullptr)) return NOT_FOUND;
    *function = new Kernel{launch, name};
    return OK;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void*, void** parameters, void**) {
    if (dead()) return ILLEGAL_ADDRESS;
    if (!gx || !gy || !gz || gy > 65535 || gz > 65535 || bx * by * bz > 1024 || shared) return 1;
    const auto* kernel = static_cast<const Kernel*>(function);
    const uint32_t grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
    kernel->launch(kernel->name.c_str(), grid, block, parameters);
    return OK;
}

}
