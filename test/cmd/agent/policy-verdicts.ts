/** Verdicts of the ACLs that a simulated VPP has bound to the interfaces of pods, read from its state. */
import { AddressSet, addressNumber } from '#plugins/policy/address-set.ts';
import type { Node } from './harness.ts';

interface Rule {
  readonly action: string;
  readonly protocol: number;
  readonly source: AddressSet;
  readonly destination: AddressSet;
  readonly firstPort: number;
  readonly lastPort: number;
}

const RULE = /^(\w+) proto (\d+) (\S+):(\d+)-(\d+) (\S+):(\d+)-(\d+)/;
const TCP = 6;

const parsedRules = new Map<string, Rule>();
const sets = new Map<string, AddressSet>();

function parsed(text: string): Rule {
  const known = parsedRules.get(text);
  if (known) return known;
  const [, action = '', protocol, source = '', , , destination = '', first, last] =
    RULE.exec(text) ?? [];
  const rule = {
    action,
    protocol: Number(protocol),
    source: setOf(source),
    destination: setOf(destination),
    firstPort: Number(first),
    lastPort: Number(last),
  };
  parsedRules.set(text, rule);
  return rule;
}

function setOf(network: string): AddressSet {
  const set = sets.get(network) ?? AddressSet.of([network]);
  sets.set(network, set);
  return set;
}

/** A connection of TCP, and the ACL that decides about it: by the beginning of its name. */
export interface Connection {
  readonly from: string;
  readonly to: string;
  readonly port: number;
  readonly acl: string;
}

function decide(rules: readonly string[], { from, to, port }: Connection): string {
  const rule = rules
    .map(parsed)
    .find(
      (one) =>
        (one.protocol === 0 || one.protocol === TCP) &&
        one.source.has(addressNumber(from)!) &&
        one.destination.has(addressNumber(to)!) &&
        one.firstPort <= port &&
        port <= one.lastPort,
    );
  return rule?.action ?? 'deny';
}

/** `permit` or `deny` for each connection; `open` if no interface has the ACL at its output. */
export function verdicts({ vpp }: Node, connections: readonly Connection[]): string[] {
  const { acls = [], aclBindings = [] } = (vpp.snapshot() ?? {}) as {
    readonly acls?: readonly { readonly tag: string; readonly rules: readonly string[] }[];
    readonly aclBindings?: readonly string[];
  };
  const bound = aclBindings.map((text) => text.slice(text.indexOf('out [')));
  return connections.map((one) => {
    const acl = acls.find(({ tag }) => tag.startsWith(one.acl));
    if (acl === undefined || !bound.some((text) => text.includes(acl.tag))) return 'open';
    return decide(acl.rules, one);
  });
}
