#include "signals.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <thread>

#include "alpa/base/file.h"

namespace alpa::tool {

SignalWatch::SignalWatch() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&watched, signal);
  }
  pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  // A handler could not remove files: what that takes is not safe in one. The thread ends with the process.
  const auto wait = [watched, ending = ending_] {
    int signal = 0;
    if (sigwait(&watched, &signal) != 0) return;
    *ending = true;
    remove_temporary_directories();
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &watched, nullptr);
    raise(signal);
  };
  try {
    std::thread(wait).detach();
  } catch (const std::system_error&) {  // no thread to be had: signals end the process as they always do
    pthread_sigmask(SIG_UNBLOCK, &watched, nullptr);
  }
}

void SignalWatch::wait_if_ending() const {
  while (*ending_) pause();
}

}  // namespace alpa::tool
