/** Bounds within which random numbers of connections lie, except in one of ten million runs. */

/** Of the standard normal distribution, for one in ten million. */
const QUANTILE = 5.2;

/** How far a number of hits may be from its mean: hits are binomially distributed. */
export function hitTolerance(attempts: number, probability: number): number {
  return QUANTILE * Math.sqrt(attempts * probability * (1 - probability)) + 1;
}

/** Chi-square of counts against expected shares. */
export function chiSquare(counts: readonly number[], shares: readonly number[]): number {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const whole = shares.reduce((sum, share) => sum + share, 0);
  return counts.reduce((sum, count, at) => {
    const mean = (total * shares[at]!) / whole;
    return sum + (count - mean) ** 2 / mean;
  }, 0);
}

/** Upper bound of chi-square, by the approximation of Wilson and Hilferty. */
export function chiSquareBound(degreesOfFreedom: number): number {
  const third = 2 / (9 * degreesOfFreedom);
  return degreesOfFreedom * (1 - third + QUANTILE * Math.sqrt(third)) ** 3;
}
