/** Sign, digits before and after the point, and a suffix: of two, of ten, or an exponent. */
const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

const BINARY = 'KMGTPE';
const DECIMAL = new Map(
  Object.entries({ n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }),
);

/** Longer texts are rejected: with them a number would take long to compute. */
const LONGEST_TEXT = 100;
/** Of ten: a number of the longest text with a larger one is above, or below, every limit. */
const LARGEST_EXPONENT = 200;

/**
 * Reads a quantity of Kubernetes (`10M`, `1.5Gi`, `500k`, `1e6`), like `resource.ParseQuantity`.
 * @returns the next whole number that is not smaller; undefined: the text is none
 */
export function parseQuantity(text: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', suffix = ''] =
    (text.length <= LONGEST_TEXT && QUANTITY.exec(text)) || [];
  if (whole + fraction === '') return undefined;
  const isBinary = suffix.endsWith('i');
  const power = isBinary ? 0 : exponentOf(suffix);
  const factor = isBinary ? 1024n ** BigInt(BINARY.indexOf(suffix[0]!) + 1) : 1n;
  const digits = BigInt(whole + fraction) * factor;
  const exponent = power - fraction.length;
  const numerator = digits * 10n ** BigInt(Math.max(exponent, 0));
  const denominator = 10n ** BigInt(Math.max(-exponent, 0));
  // the division of numbers rounds toward zero
  if (sign === '-') return -(numerator / denominator);
  return (numerator + denominator - 1n) / denominator;
}

function exponentOf(suffix: string): number {
  if (suffix === '') return 0;
  const power = DECIMAL.get(suffix) ?? Number(suffix.slice(1));
  return Math.max(-LARGEST_EXPONENT, Math.min(LARGEST_EXPONENT, power));
}
