// What tch does not wrap: fused AdamW, foreach operations, libtorch's threads, allocator statistics, TF32.
// Each function returns null, or a message that the caller frees with `philidor_free`; no exception leaves this file.

#include <ATen/ATen.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Handles = const at::Tensor *const *;

std::vector<at::Tensor> list(Handles handles, std::size_t count) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(count);
  for (std::size_t i = 0; i < count; ++i) tensors.push_back(*handles[i]);
  return tensors;
}

template <typename Work> char *guarded(Work work) {
  try {
    work();
    return nullptr;
  } catch (const std::exception &error) {
    // A clause for c10::Error would name its type where linkers never remove a name, and so draw libtorch into the runner.
    const auto *ours = dynamic_cast<const c10::Error *>(&error);
    return strdup(ours ? ours->what_without_backtrace() : error.what());
  } catch (...) {
    return strdup("an exception of unknown type");
  }
}

} // namespace

extern "C" {

void philidor_free(char *message) { std::free(message); }

// One step of AdamW on all tensors at once; `step` counts from 1 and is the same float32 scalar for all. Where `skip` is not
// null and is 1 on the device, a float32 scalar, nothing changes.
char *philidor_adamw(Handles weights, Handles gradients, Handles first, Handles second, std::size_t count, const at::Tensor *step,
                     double rate, double beta1, double beta2, double decay, double eps, const at::Tensor *skip) {
  return guarded([&] {
    c10::NoGradGuard no_grad;
    const auto w = list(weights, count), g = list(gradients, count), m = list(first, count), v = list(second, count);
    for (std::size_t i = 0; i < count; ++i)
      for (const auto *other : {&g[i], &m[i], &v[i]}) // The CPU kernel walks the memory and asks for no shape.
        TORCH_CHECK(w[i].sizes() == other->sizes() && w[i].strides() == other->strides() && w[i].scalar_type() == other->scalar_type(),
                    "AdamW: a weight of ", w[i].sizes(), " meets a tensor of ", other->sizes(), ", or another layout or dtype");
    at::_fused_adamw_(w, g, m, v, {}, std::vector<at::Tensor>(count, *step), rate, beta1, beta2, decay, eps, /*amsgrad=*/false,
                      /*maximize=*/false, /*grad_scale=*/{}, skip ? std::optional<at::Tensor>(*skip) : std::nullopt);
  });
}

// Scales the gradients to a global norm of at most `most`, and writes the norm before that. No host sync.
char *philidor_clip(Handles gradients, std::size_t count, double most, at::Tensor **norm) {
  return guarded([&] {
    c10::NoGradGuard no_grad;
    const auto grads = list(gradients, count);
    const auto total = at::linalg_vector_norm(at::stack(at::_foreach_norm(grads, 2)));
    at::_foreach_mul_(grads, at::clamp_max(most / (total + 1e-6), 1.0));
    *norm = new at::Tensor(total);
  });
}

// to[i] += from[i]
char *philidor_add(Handles to, Handles from, std::size_t count) {
  return guarded([&] {
    c10::NoGradGuard no_grad;
    at::_foreach_add_(list(to, count), list(from, count));
  });
}

// A mark in the work of a CUDA device, not set yet. The caller frees it with `philidor_event_free`.
char *philidor_event_new(c10::Event **event) {
  return guarded([&] { *event = new c10::Event(c10::DeviceType::CUDA); });
}

void philidor_event_free(c10::Event *event) { delete event; }

// Sets the mark after all that this thread has given to the device so far.
char *philidor_event_record(c10::Event *event, int device) {
  return guarded([&] {
    const c10::impl::VirtualGuardImpl cuda(c10::DeviceType::CUDA);
    event->record(cuda.getStream(c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device))));
  });
}

// Whether the device has come to the mark; with `wait`, once it has.
char *philidor_event_reached(const c10::Event *event, bool wait, bool *reached) {
  return guarded([&] {
    if (wait) event->synchronize();
    *reached = wait || event->query();
  });
}

// to[i] += weight * (from[i] - to[i]); nothing where `skip` is not null and is 1 on the device.
char *philidor_lerp(Handles to, Handles from, std::size_t count, double weight, const at::Tensor *skip) {
  return guarded([&] {
    c10::NoGradGuard no_grad;
    const auto t = list(to, count), f = list(from, count);
    if (!skip) return at::_foreach_lerp_(t, f, weight);
    const auto apart = at::_foreach_sub(f, t);
    at::_foreach_mul_(apart, (1 - *skip) * weight);
    at::_foreach_add_(t, apart);
  });
}

// work(with, part) for each part, by libtorch's own threads: those of an iterator over the parts' numbers, since this file is
// compiled without OpenMP.
char *philidor_share(std::size_t parts, void (*work)(const void *, std::size_t), const void *with) {
  return guarded([&] {
    c10::NoGradGuard no_grad;
    auto numbers = at::arange(static_cast<std::int64_t>(parts), at::kLong);
    auto each = at::TensorIterator::nullary_op(numbers);
    each.for_each(
        [&](char **data, const std::int64_t *strides, std::int64_t count) {
          for (std::int64_t i = 0; i < count; ++i) work(with, *reinterpret_cast<const std::int64_t *>(data[0] + i * strides[0]));
        },
        /*grain_size=*/1);
  });
}

// A matrix in the order in which oneDNN's kernels for products read it, and a product of such a one: operators of libtorch that
// ATen.h does not declare.
char *philidor_pack(const at::Tensor *weight, at::Tensor **packed) {
  return guarded([&] {
    using Pack = at::Tensor(const at::Tensor &, std::optional<std::int64_t>);
    c10::NoGradGuard no_grad;
    const auto pack = c10::Dispatcher::singleton().findSchemaOrThrow("mkldnn::_reorder_linear_weight", "").typed<Pack>();
    *packed = new at::Tensor(pack.call(*weight, std::nullopt));
  });
}

char *philidor_packed_product(const at::Tensor *x, const at::Tensor *packed, at::Tensor **product) {
  return guarded([&] {
    using Product = at::Tensor(const at::Tensor &, const at::Tensor &, const std::optional<at::Tensor> &, std::string_view,
                               c10::List<std::optional<at::Scalar>>, std::optional<std::string_view>);
    c10::NoGradGuard no_grad;
    static const auto multiply = c10::Dispatcher::singleton().findSchemaOrThrow("mkldnn::_linear_pointwise", "").typed<Product>();
    *product = new at::Tensor(multiply.call(*x, *packed, std::nullopt, "none", c10::List<std::optional<at::Scalar>>(), std::nullopt));
  });
}

// Whether float32 factors of matrix products may be rounded to TensorFloat32 where the device has it. Of the whole process.
char *philidor_tf32(bool allowed) {
  return guarded([&] { at::globalContext().setFloat32MatmulPrecision(allowed ? "high" : "highest"); });
}

// Peak bytes that libtorch allocated on a CUDA device since the process began.
char *philidor_peak_bytes(int device, std::int64_t *bytes) {
  return guarded([&] {
    const auto stats = at::getDeviceAllocator(at::kCUDA)->getDeviceStats(static_cast<c10::DeviceIndex>(device));
    *bytes = stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)].peak;
  });
}

// Gives the memory that libtorch holds for later back to the CUDA devices.
char *philidor_release() {
  return guarded([] { at::getDeviceAllocator(at::kCUDA)->emptyCache(); });
}

// Bytes that are free on a CUDA device, as its driver tells.
char *philidor_free_bytes(int device, std::int64_t *bytes) {
  return guarded([&] {
    const auto told = at::getDeviceAllocator(at::kCUDA)->getMemoryInfo(static_cast<c10::DeviceIndex>(device));
    *bytes = static_cast<std::int64_t>(told.first);
  });
}

} // extern "C"
