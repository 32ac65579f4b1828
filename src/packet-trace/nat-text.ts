/** Says in a sentence what NAT44 did with a packet. */
import type { NatIndex } from './nat-index.ts';
import type { NatEnd, NatRule, NatSession } from './nat-session.ts';

export function natText(session: NatSession, rule: NatRule, index: NatIndex): string {
  const { kind, inside, outside, externalHost, externalHostNat, out2in } = session;
  const isReply = kind === 'dynamic' ? rule === out2in : rule !== out2in;
  const of = `${isReply ? 'reply of ' : ''}${subject(session)}`;
  const [from, to] = rule === out2in ? [outside, inside] : [inside, outside];
  const client =
    externalHostNat &&
    (isReply
      ? `, and ${end(externalHostNat)} to the client ${end(externalHost)}`
      : `, and the client ${end(externalHost)} to ${end(externalHostNat)}`);
  const choice = isReply ? '' : choiceText(session, index);
  return `${of}: ${end(from)} is translated to ${end(to)}${choice}${client ?? ''}`;
}

function subject({ kind, label }: NatSession): string {
  if (kind === 'dynamic') return 'source NAT';
  if (label === '') return 'an unmanaged NAT mapping';
  return /^[^/]+\/[^/]+$/.test(label) ? `service ${label}` : `DNAT ${label}`;
}

function choiceText({ kind, outside, protocol }: NatSession, index: NatIndex): string {
  const entry = index.byExternal(outside.address, outside.port, protocol);
  if (kind !== 'balanced' || entry?.kind !== 'mapping') return '';
  return ` (one of ${entry.mapping.backends.length} backends)`;
}

function end({ address, port }: NatEnd): string {
  return `${address}:${port}`;
}
