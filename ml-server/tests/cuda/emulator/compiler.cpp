// libnvrtc.so for the tests: hands the kernels' source to the system's C++ compiler, behind the shim. LYRA_EMULATOR is the
// folder that holds the shim.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

namespace {

struct Program { std::string source, log, binary; };

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) { *major = 13; *minor = 0; return 0; }
const char* nvrtcGetErrorString(int) { return "emulated error"; }
int nvrtcCreateProgram(Program** program, const char* source, const char*, int, const char* const*, const char* const*) {
    *program = new Program{source, "", ""};
    return 0;
}
int nvrtcDestroyProgram(Program** program) { delete *program; return 0; }
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
    char folder[] = "/tmp/lyra-compiler-XXXXXX";
    const char* home = std::getenv("LYRA_EMULATOR");
    if (!home || !mkdtemp(folder)) return 7;
    std::string base = folder;
    std::ofstream(base + "/kernels.cpp") << program->source;
    std::string command = "c++ -std=c++17 -O2 -fno-strict-aliasing -U_FORTIFY_SOURCE -fno-gnu-unique -fvisibility=hidden -fPIC -shared -w -DLYRA_EMULATED -include " + std::string(home) + "/shim.h";
    for (int i = 0; i < count; ++i)
        if (!std::strncmp(options[i], "-D", 2)) command += " " + std::string(options[i]);
    command += " -o " + base + "/kernels.so " + base + "/kernels.cpp > " + base + "/log 2>&1";
    int status = std::system(command.c_str());
    program->log = contents(base + "/log");
    program->binary = contents(base + "/kernels.so");
    std::system(("rm -r " + base).c_str());
    return status ? 6 : 0;
}
int nvrtcGetProgramLogSize(Program* program, size_t* size) { *size = program->log.size() + 1; return 0; }
int nvrtcGetProgramLog(Program* program, char* log) { std::memcpy(log, program->log.c_str(), program->log.size() + 1); return 0; }
int nvrtcGetCUBINSize(Program* program, size_t* size) { *size = program->binary.size(); return 0; }
int nvrtcGetCUBIN(Program* program, char* binary) { std::memcpy(binary, program->binary.data(), program->binary.size()); return 0; }

}
