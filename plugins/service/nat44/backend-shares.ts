import type { Backend } from '../rendered-service.ts';

/** VPP accepts 255 backends, of which one may be the filler of a mapping with one backend. */
export const MAX_BACKENDS = 254;

/** VPP keeps the sum of all shares in one byte. */
const MAX_SUM = 255;

/**
 * Share of a backend with weight 1. The lowest bit of VPP's random number alternates, and a session with
 * twice-NAT draws two numbers: with shares of 1 and an even sum, half of the backends would never be chosen.
 */
const SHARE = 2;

/**
 * Shares for the backends, in their order. A backend on this node gets the local weight, which is halved
 * until the sum fits. VPP cannot change a share in place, so shares depend as little as possible on the
 * number of backends: other connections survive when a backend comes or goes. More backends than shares of
 * 2 get 1 each, all at once: if they got it one after the other, each change above that number would end the
 * connections of another backend.
 * @param backends at most `MAX_BACKENDS`
 * @param replacesClient whether each session has twice-NAT
 */
export function backendShares(
  backends: readonly Backend[],
  localWeight: number,
  replacesClient: boolean,
): number[] {
  const local = backends.filter(({ isLocal }) => isLocal).length;
  const remote = backends.length - local;
  const share = backends.length * SHARE <= MAX_SUM ? SHARE : 1;
  let weight = localWeight;
  while (weight > 1 && (local * weight + remote) * share > MAX_SUM) weight = Math.floor(weight / 2);
  const shares = backends.map(({ isLocal }) => (isLocal ? weight * share : share));
  if (share === 1 && replacesClient) makeSumOdd(shares);
  return shares;
}

/** The remainder of a random number then has every value, although the lowest bit does not change. */
function makeSumOdd(shares: number[]): void {
  const sum = shares.reduce((all, one) => all + one, 0);
  if (sum % 2 === 0) shares.push(shares.pop()! + 1);
}
