//===- ScalarReference.cpp - Kernels in scalar arithmetic -----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarReference.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstdint>

using namespace hexad;
using namespace hexad::test;

static float clamp(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

float test::greater(float a, float b) { return a > b ? a : b; }

float test::exp2(float x) {
  const float magic = 12582912.0f + 127.0f;
  x = x < -127.0f ? -127.0f : x;
  float t = x + magic;
  float f = x - (t - magic);
  float p = 0.0013264727f;
  for (float c : {0.009671513f, 0.055507336f, 0.24022242f, 0.693147f, 1.0f})
    p = std::fma(p, f, c);
  return p * llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(t) << 23);
}

float test::exp(float x) { return exp2(x * 1.44269504f); }

float test::ln(float x) {
  if (!(x < INFINITY))
    return x;
  if (x < 0x1p-126f)
    return x > -0x1p-126f ? -INFINITY : NAN;
  int32_t bits = llvm::bit_cast<int32_t>(x), n = (bits - 0x3f3504f3) >> 23;
  float f = llvm::bit_cast<float>(bits - n * (1 << 23)) - 1.0f;
  float p = -0.0762177758995f;
  for (float c :
       {0.129044331049f, -0.132429878888f, 0.141818252155f, -0.166090825798f,
        0.200019739258f, -0.250015829608f, 0.333333256921f, -0.499999883464f})
    p = std::fma(p, f, c);
  float power = float(n), curve = (f * f) * p;
  return std::fma(power, 0.693145752f,
                  f + std::fma(power, 1.42860677e-6f, curve));
}

static float tanhOf(float x) {
  x = clamp(x, -7.96701622f, 7.96701622f);
  float s = x * x, p = 1.33543730807e-8f, q = 7.77643430347e-7f;
  for (float c :
       {2.06088537614e-5f, 0.00349557329937f, 0.133810128115f, 0.999999979361f})
    p = std::fma(p, s, c);
  for (float c : {0.000328561124294f, 0.0258769247499f, 0.46714328379f, 1.0f})
    q = std::fma(q, s, c);
  return (x * p) / q;
}

static float erfOfNormal(float x) {
  x = clamp(x, -5.14801836f, 5.14801836f);
  float s = x * x, p = 4.67734331608e-8f, q = 1.21659113029e-6f;
  for (float c : {1.27200581157e-5f, 0.0003286447617f, 0.00930171084402f,
                  0.0667445814672f, 0.797884490733f})
    p = std::fma(p, s, c);
  for (float c : {7.24004273943e-5f, 0.00185898537395f, 0.0283787240908f,
                  0.250318016476f, 1.0f})
    q = std::fma(q, s, c);
  return (x * p) / q;
}

static float halfGate(float x, float low, float s) {
  float half = (x < low ? low : x) * 0.5f;
  return std::fma(half, s, half);
}

static float siluOf(float x, double scale) {
  float exponent = x * float(-scale * 1.4426950408889634);
  float divisor = 1.0f + test::exp2(exponent > 128.0f ? 128.0f : exponent);
  float low = float(-128.0 / scale);
  return (x < low ? low : x) / divisor;
}

float test::activation(Activation kind, float x) {
  switch (kind) {
  case Activation::Gelu:
    return halfGate(x, -5.14801836f, erfOfNormal(x));
  case Activation::GeluTanh:
    return halfGate(x, -4.9f,
                    tanhOf(x * std::fma(x * x, 0.0356774081f, 0.797884561f)));
  case Activation::QuickGelu:
    return siluOf(x, 1.702);
  case Activation::Silu:
    return siluOf(x, 1.0);
  case Activation::Relu:
    return x < 0.0f ? 0.0f : x;
  case Activation::Tanh:
    return tanhOf(x);
  case Activation::Sigmoid: {
    float exponent = x * -1.44269504f;
    return 1.0f / (1.0f + test::exp2(exponent > 128.0f ? 128.0f : exponent));
  }
  }
  return NAN;
}

test::SineAndCosine test::sineAndCosine(float angle, float rest) {
  const float inverse = 0.636619747f, first = 1.57079637f,
              second = -4.37113883e-8f, third = -1.71512451e-15f;
  float many = std::nearbyint(angle * inverse);
  float x = std::fma(many, -first, angle);
  x = std::fma(many, -second, x);
  x = x + std::fma(many, -third, rest);
  float few = std::nearbyint(x * inverse);
  x = std::fma(few, -first, x);
  x = std::fma(few, -second, x);

  float s = x * x, p = -0.000194916077953f, cosine = 2.44342142532e-5f;
  for (float c : {0.00833194681482f, -0.166666501011f})
    p = std::fma(p, s, c);
  float sine = std::fma(x * s, p, x);
  for (float c : {-0.00138873317195f, 0.0416666461627f, -0.5f, 1.0f})
    cosine = std::fma(cosine, s, c);
  switch ((int64_t(many) + int64_t(few)) & 3) {
  case 0:
    return {sine, cosine};
  case 1:
    return {cosine, -sine};
  case 2:
    return {-sine, -cosine};
  default:
    return {-cosine, sine};
  }
}
