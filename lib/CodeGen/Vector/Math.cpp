//===- Math.cpp - Elementary functions ------------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same operations on every target, and no libm. Formulas, coefficients and
// errors: docs/ElementaryFunctions.md; test/unit/CodeGen checks the errors.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include <limits>

using namespace mlir;
using namespace hexad;
using namespace hexad::kernel;

/// `Σ coefficients[i] · x^i` by Horner's rule.
static Value buildPolynomial(VectorBuilder &b, Value x,
                             ArrayRef<float> coefficients) {
  Value sum = b.splat(coefficients.back());
  for (float coefficient : llvm::reverse(coefficients.drop_back()))
    sum = b.fma(sum, x, b.splat(coefficient));
  return sum;
}

Value hexad::kernel::buildExp2(VectorBuilder &b, Value x) {
  // Adding `magic` rounds x to an integer n, and leaves n + 127, the biased
  // exponent of 2^n, in the low bits of the sum. At -127 that is 0: exactly 0.
  constexpr float magic = 12582912.0f + 127.0f; // 1.5 * 2^23 + 127
  constexpr float coefficients[] = {1.0f,         0.693147f,    0.24022242f,
                                    0.055507336f, 0.009671513f, 0.0013264727f};
  x = b.clampBelow(x, -127.0f);
  Value shifted = b.addf(x, b.splat(magic));
  Value fraction = b.subf(x, b.subf(shifted, b.splat(magic)));
  Value power = b.fromBits(b.shiftLeft(b.bitsOf(shifted), 23));
  return b.mulf(buildPolynomial(b, fraction, coefficients), power);
}

Value hexad::kernel::buildExp(VectorBuilder &b, Value x) {
  constexpr float log2e = 1.44269504f;
  return buildExp2(b, b.mulf(x, b.splat(log2e)));
}

Value hexad::kernel::buildLog(VectorBuilder &b, Value x) {
  constexpr int32_t rootOfHalf = 0x3f3504f3; // bits of √½
  // ln 2 is the sum of both; n times the first is exact.
  constexpr float ln2 = 0.693145752f, ln2Rest = 1.42860677e-6f;
  constexpr float coefficients[] = {
      -0.499999883464f, 0.333333256921f,  -0.250015829608f,
      0.200019739258f,  -0.166090825798f, 0.141818252155f,
      -0.132429878888f, 0.129044331049f,  -0.0762177758995f};
  // x = m · 2^n with √½ ≤ m < √2.
  Value bits = b.bitsOf(x);
  auto splat = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(
        b.builder, b.loc,
        SplatElementsAttr::get(cast<VectorType>(bits.getType()),
                               b.builder.getI32IntegerAttr(value)));
  };
  Value exponent = arith::ShRSIOp::create(
      b.builder, b.loc,
      arith::SubIOp::create(b.builder, b.loc, bits, splat(rootOfHalf)),
      splat(23));
  Value mantissa = b.fromBits(
      arith::SubIOp::create(b.builder, b.loc, bits, b.shiftLeft(exponent, 23)));
  Value n = arith::SIToFPOp::create(b.builder, b.loc, b.vectorType(), exponent);

  Value f = b.subf(mantissa, b.splat(1.0f)); // exact
  Value curve = b.mulf(b.mulf(f, f), buildPolynomial(b, f, coefficients));
  Value small = b.addf(f, b.fma(n, b.splat(ln2Rest), curve));
  Value result = b.fma(n, b.splat(ln2), small);

  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float smallest = std::numeric_limits<float>::min();
  auto isBelow = [&](float bound) {
    return b.compare(arith::CmpFPredicate::OLT, x, b.splat(bound));
  };
  Value ofTiny = b.select(
      b.compare(arith::CmpFPredicate::OGT, x, b.splat(-smallest)),
      b.splat(-infinity), b.splat(std::numeric_limits<float>::quiet_NaN()));
  // NaN is below nothing.
  return b.select(isBelow(smallest), ofTiny,
                  b.select(isBelow(infinity), result, x));
}

/// An odd rational function `x · P(x²) / Q(x²)` that approximates one which
/// goes to ±1. It is exactly 1 at `end`, behind which x is clamped.
struct Sigmoidal {
  float end;
  ArrayRef<float> numerator, denominator;

  Value build(VectorBuilder &b, Value x) const {
    x = b.clampAbove(b.clampBelow(x, -end), end);
    Value square = b.mulf(x, x);
    return b.divf(b.mulf(x, buildPolynomial(b, square, numerator)),
                  buildPolynomial(b, square, denominator));
  }
};

static Value buildTanh(VectorBuilder &b, Value x) {
  constexpr float numerator[] = {0.999999979361f, 0.133810128115f,
                                 0.00349557329937f, 2.06088537614e-5f,
                                 1.33543730807e-8f};
  constexpr float denominator[] = {1.0f, 0.46714328379f, 0.0258769247499f,
                                   0.000328561124294f, 7.77643430347e-7f};
  return Sigmoidal{7.96701622f, numerator, denominator}.build(b, x);
}

Value hexad::kernel::buildSoftcap(VectorBuilder &b, Value x, double cap) {
  Value inverse = b.splat(static_cast<float>(1.0 / cap));
  return b.mulf(b.splat(static_cast<float>(cap)),
                buildTanh(b, b.mulf(x, inverse)));
}

/// `erf(x / √2)`, that is `2·Φ(x) - 1`.
static Value buildErfOfNormal(VectorBuilder &b, Value x) {
  constexpr float numerator[] = {0.797884490733f,   0.0667445814672f,
                                 0.00930171084402f, 0.0003286447617f,
                                 1.27200581157e-5f, 4.67734331608e-8f};
  constexpr float denominator[] = {1.0f,
                                   0.250318016476f,
                                   0.0283787240908f,
                                   0.00185898537395f,
                                   7.24004273943e-5f,
                                   1.21659113029e-6f};
  return Sigmoidal{5.14801836f, numerator, denominator}.build(b, x);
}

/// `x/2 · (1 + s)`, s being -1 where x ≤ `low`: exactly 0 there, also at -∞.
static Value buildHalfGate(VectorBuilder &b, Value x, float low, Value s) {
  Value half = b.mulf(b.clampBelow(x, low), b.splat(0.5f));
  return b.fma(half, s, half);
}

static Value buildGelu(VectorBuilder &b, Value x) {
  return buildHalfGate(b, x, -5.14801836f, buildErfOfNormal(b, x));
}

static Value buildGeluTanh(VectorBuilder &b, Value x) {
  // √(2/π)·(x + 0.044715·x³) is below tanh's end at -4.9.
  constexpr float linear = 0.797884561f, cubic = 0.0356774081f;
  Value inner = b.mulf(x, b.fma(b.mulf(x, x), b.splat(cubic), b.splat(linear)));
  return buildHalfGate(b, x, -4.9f, buildTanh(b, inner));
}

/// `1 + exp(-scale · x)`; infinite where the exponential overflows.
static Value buildSigmoidDivisor(VectorBuilder &b, Value x, double scale) {
  constexpr double log2e = 1.4426950408889634;
  Value exponent = b.mulf(x, b.splat(static_cast<float>(-scale * log2e)));
  return b.addf(b.splat(1.0f), buildExp2(b, b.clampAbove(exponent, 128.0f)));
}

/// `x · σ(scale·x)`. x stops at -128 / scale, where σ is already 0, so that -∞
/// gives 0 too.
static Value buildSiluOf(VectorBuilder &b, Value x, double scale) {
  Value divisor = buildSigmoidDivisor(b, x, scale);
  return b.divf(b.clampBelow(x, static_cast<float>(-128.0 / scale)), divisor);
}

Value hexad::kernel::buildActivation(VectorBuilder &b, Activation kind,
                                     Value x) {
  switch (kind) {
  case Activation::Gelu:
    return buildGelu(b, x);
  case Activation::GeluTanh:
    return buildGeluTanh(b, x);
  case Activation::QuickGelu:
    return buildSiluOf(b, x, 1.702);
  case Activation::Silu:
    return buildSiluOf(b, x, 1.0);
  case Activation::Relu:
    return b.clampBelow(x, 0.0f);
  case Activation::Tanh:
    return buildTanh(b, x);
  case Activation::Sigmoid:
    return b.divf(b.splat(1.0f), buildSigmoidDivisor(b, x, 1.0));
  }
  llvm_unreachable("every activation has a case");
}

SineAndCosine hexad::kernel::buildSineAndCosine(VectorBuilder &b, Value angle,
                                                Value rest) {
  // π/2 is the sum of three f32; the last is for the products with millions.
  constexpr float inverse = 0.636619747f, first = 1.57079637f,
                  second = -4.37113883e-8f, third = -1.71512451e-15f;
  constexpr float sineCoefficients[] = {-0.166666501011f, 0.00833194681482f,
                                        -0.000194916077953f};
  constexpr float cosineCoefficients[] = {
      1.0f, -0.5f, 0.0416666461627f, -0.00138873317195f, 2.44342142532e-5f};
  auto countQuarters = [&](Value x) {
    return b.round(b.mulf(x, b.splat(inverse)));
  };
  Value many = countQuarters(angle);
  Value x = b.fma(many, b.splat(-first), angle);
  x = b.fma(many, b.splat(-second), x);
  x = b.addf(x, b.fma(many, b.splat(-third), rest));
  // The number of quarters of a large angle is off by one where the product was
  // rounded, and `rest` may be as large as a quarter.
  Value few = countQuarters(x);
  x = b.fma(few, b.splat(-first), x);
  x = b.fma(few, b.splat(-second), x);

  Value square = b.mulf(x, x);
  Value sine =
      b.fma(b.mulf(x, square), buildPolynomial(b, square, sineCoefficients), x);
  Value cosine = buildPolynomial(b, square, cosineCoefficients);

  Value quarter = arith::AddIOp::create(b.builder, b.loc, b.toIntegers(many),
                                        b.toIntegers(few));
  auto splat = [&](int32_t value) -> Value {
    auto type = cast<VectorType>(quarter.getType());
    return arith::ConstantOp::create(
        b.builder, b.loc,
        SplatElementsAttr::get(type, b.builder.getI32IntegerAttr(value)));
  };
  Value odd = arith::CmpIOp::create(
      b.builder, b.loc, arith::CmpIPredicate::ne,
      arith::AndIOp::create(b.builder, b.loc, quarter, splat(1)), splat(0));
  // Bit 1 of the number of quarters becomes the sign.
  auto negateInHalf = [&](Value value, Value quarters) {
    Value half = arith::AndIOp::create(b.builder, b.loc, quarters, splat(2));
    return b.fromBits(arith::XOrIOp::create(b.builder, b.loc, b.bitsOf(value),
                                            b.shiftLeft(half, 30)));
  };
  Value next = arith::AddIOp::create(b.builder, b.loc, quarter, splat(1));
  return {negateInHalf(b.select(odd, cosine, sine), quarter),
          negateInHalf(b.select(odd, sine, cosine), next)};
}
