/** How packets to other nodes are protected, in words. */
import type { EncryptionDocument } from '#documents/encryption.ts';
import { shortList } from '../failures.ts';

type OtherNodes = EncryptionDocument['otherNodes'];

export function isFullyEncrypted({ isOn, problem, otherNodes }: EncryptionDocument): boolean {
  const { withoutSession, isolated, inClearText, unreachable } = otherNodes;
  return isOn && problem === null && withoutSession + isolated + inClearText + unreachable === 0;
}

/** `4 encrypted; 1 without session: node-3 for 200 s` */
export function protectionInWords(nodes: OtherNodes): string {
  const { namesWithoutSession, namesIsolated, namesInClearText } = nodes;
  const lost = namesWithoutSession.map(({ name, seconds }) => `${name} for ${seconds} s`);
  return [
    `${nodes.encrypted} encrypted`,
    ...part(nodes.withoutSession, 'without session', lost),
    ...part(nodes.isolated, 'without key', namesIsolated),
    ...part(nodes.inClearText, 'in clear text', namesInClearText),
    ...part(nodes.unreachable, 'unreachable', []),
  ].join('; ');
}

/** @param names the first ones of as many as `count` */
function part(count: number, what: string, names: readonly string[]): string[] {
  if (count === 0) return [];
  const shown = shortList(names);
  return [`${count} ${what}${shown === '' ? '' : `: ${shown}`}`];
}
