/** Carries out commands, one after another, on the calling thread. */
import { writeFileSync } from 'node:fs';
import { errorText } from '#infra/errors/errors.ts';
import { LinuxError } from '../api.ts';
import { decodeTcpConnection, dumpTcpConnections, MAXIMUM_DUMP } from '../netlink/connections.ts';
import * as addresses from '../netlink/link-addresses.ts';
import { readLinkReports } from '../netlink/link-reports.ts';
import * as links from '../netlink/links.ts';
import * as neighbors from '../netlink/neighbors.ts';
import { Refusal } from '../netlink/refusal.ts';
import { changeRoute } from '../netlink/routes.ts';
import * as sockets from '../netlink/sockets.ts';
import { findLinks, readState } from '../netlink/state.ts';
import { readSeenConnections } from '../socket-flows/seen-connections.ts';
import type { Answer, Command, Failure, Offload, Outcome } from './commands.ts';
import { NoNamespaceError } from './namespace-file.ts';
import type { OpenNamespace, OpenNamespaces } from './open-namespaces.ts';
import { namespaceCookie, setEthtool } from './system-calls.ts';

/** Commands of `ioctl`. */
const SET_RX_CHECKSUMS = 0x15;
const SET_TX_CHECKSUMS = 0x17;

/** Carries out one command. @param answer called once, in most cases at the end */
export function execute(
  command: Command,
  namespaces: OpenNamespaces,
  answer: (outcome: Outcome) => void,
): void {
  if (command.kind === 'beginDeleteTap') deleteTap(command, namespaces, answer);
  else answer(outcomeOf(command, namespaces, () => carryOut(command, namespaces)));
}

/**
 * Answers before the kernel is asked: it has taken the link out of the namespace after 0.3 ms, but returns only when
 * no processor uses the link any more. The index is never that of a link that gets the name later.
 */
function deleteTap(
  command: Command & { readonly kind: 'beginDeleteTap' },
  namespaces: OpenNamespaces,
  answer: (outcome: Outcome) => void,
): void {
  let index = 0;
  const found = outcomeOf(command, namespaces, () => {
    const [link] = findLinks(namespaces.at(command.namespace).netlink, [command.name]);
    if (!link) throw new LinuxError('does not exist', { errno: 'ENODEV' });
    if (link.kind !== 'tun') throw new LinuxError('is not that of a TAP', { errno: 'EINVAL' });
    index = link.index;
    return undefined;
  });
  answer(found);
  if (found.failure) return;
  outcomeOf(command, namespaces, () => {
    namespaces.at(command.namespace).netlink.change(links.deleteLink(index));
    return undefined;
  });
}

function outcomeOf(command: Command, namespaces: OpenNamespaces, work: () => Answer): Outcome {
  try {
    return { answer: work() };
  } catch (thrown) {
    if (!(thrown instanceof Refusal || thrown instanceof NoNamespaceError))
      namespaces.discard(command.namespace);
    return { failure: failureOf(thrown, command) };
  }
}

function failureOf(thrown: unknown, { where }: Command): Failure {
  const isNamespaceGone = thrown instanceof NoNamespaceError;
  return {
    text: thrown instanceof Error ? thrown.message : errorText(thrown),
    where: isNamespaceGone ? thrown.path : where,
    errno:
      thrown instanceof Refusal || thrown instanceof LinuxError
        ? thrown.errno
        : (thrown as NodeJS.ErrnoException).code,
    isNamespaceGone,
  };
}

function carryOut(
  command: Exclude<Command, { readonly kind: 'beginDeleteTap' }>,
  namespaces: OpenNamespaces,
): Answer {
  const here = namespaces.at(command.namespace);
  const index = (name: string): number => links.indexOf(here.netlink, name);
  switch (command.kind) {
    case 'createVeth': {
      const { name, peer } = command;
      const isApart = peer.namespace !== command.namespace;
      const other = isApart ? namespaces.at(peer.namespace).file : undefined;
      here.netlink.change(links.createVeth(name, peer.name, other));
      return undefined;
    }
    case 'deleteLink':
      here.netlink.change(links.deleteLink(index(command.name)));
      return undefined;
    case 'moveLink': {
      const { name, to } = command;
      if (to.namespace === command.namespace) rename(here, index(name), to.name);
      else move(here, namespaces.at(to.namespace), name, to.name);
      return undefined;
    }
    case 'setLink':
      here.netlink.change(links.setLink(index(command.name), command.settings));
      return undefined;
    case 'addAddress':
      here.netlink.change(addresses.addAddress(index(command.name), command.cidr));
      return undefined;
    case 'deleteAddress':
      here.netlink.change(addresses.deleteAddress(index(command.name), command.cidr));
      return undefined;
    case 'changeRoute': {
      const { verb, route } = command;
      here.netlink.change(changeRoute(verb, index(route.device), route));
      return undefined;
    }
    case 'setNeighbor': {
      const { device, address, mac } = command.entry;
      here.netlink.change(neighbors.setNeighbor(index(device), address, mac));
      return undefined;
    }
    case 'deleteNeighbor':
      here.netlink.change(neighbors.deleteNeighbor(index(command.device), command.address));
      return undefined;
    case 'setChecksumOffload':
      setChecksums(here, command.name, command.offload);
      return undefined;
    case 'setSysctl':
      here.enter(() => writeFileSync(command.path, `${command.value}\n`));
      return undefined;
    case 'dump':
      return readState(here.netlink);
    case 'findLinks':
      return findLinks(here.netlink, command.names);
    case 'reportLinks':
      return readLinkReports(here.netlink);
    case 'namespaceCookie':
      return namespaceCookie(here.socket);
    case 'datagramSockets':
      return Object.values(sockets.socketFamilies).flatMap((family) =>
        here.processSockets.dump(sockets.dumpDatagramSockets(family), sockets.decodeDatagramSocket),
      );
    case 'tcpConnections':
      return Object.values(sockets.socketFamilies).flatMap((family) =>
        here.processSockets.dump(dumpTcpConnections(family), decodeTcpConnection, MAXIMUM_DUMP),
      );
    case 'seenConnections':
      return readSeenConnections(here.processSockets, command.states, cookieOf(here));
    case 'endDatagramSocket':
      here.processSockets.change(sockets.endDatagramSocket(command.socket));
      return undefined;
  }
}

/** undefined: the kernel does not report it (before 5.14). */
function cookieOf({ socket }: OpenNamespace): bigint | undefined {
  try {
    return namespaceCookie(socket);
  } catch (thrown) {
    if (thrown instanceof LinuxError || thrown instanceof Refusal) return undefined;
    throw thrown;
  }
}

/** All steps are executed, also after a failed one; the first failure counts. */
function rename({ netlink }: OpenNamespace, index: number, name: string): void {
  const steps = [
    () => netlink.change(links.setLink(index, { up: false })),
    () => deleteAddresses(netlink, index),
    () => netlink.change(links.renameLink(index, name)),
  ];
  const failures = steps.flatMap((step) => {
    try {
      step();
      return [];
    } catch (thrown) {
      return [thrown];
    }
  });
  if (failures.length > 0) throw failures[0];
}

/** The kernel deletes the secondary addresses of a network together with the first. */
function deleteAddresses(netlink: OpenNamespace['netlink'], of: number): void {
  for (const { index, cidr } of addresses.readAddresses(netlink, of)) {
    try {
      netlink.change(addresses.deleteAddress(index, cidr));
    } catch (thrown) {
      if (!(thrown instanceof Refusal && thrown.errno === 'EADDRNOTAVAIL')) throw thrown;
    }
  }
}

/**
 * Some releases of the kernel move a link before they rename it. If the new name is taken, the link may be
 * in the other namespace under its old name; then it is moved back. After a crash in between it stays
 * there with its alias, and a resync finds it.
 */
function move(here: OpenNamespace, there: OpenNamespace, name: string, newName: string): void {
  const find = ({ netlink }: OpenNamespace): number => links.indexOf(netlink, name);
  const index = find(here);
  try {
    here.netlink.change(links.moveLink(index, there.file, newName));
  } catch (thrown) {
    if (!(thrown instanceof Refusal && thrown.errno === 'EEXIST')) throw thrown;
    try {
      find(here);
    } catch {
      there.netlink.change(links.moveLink(find(there), here.file, undefined));
    }
    throw thrown;
  }
}

function setChecksums({ socket }: OpenNamespace, name: string, { rx, tx }: Offload): void {
  if (rx !== undefined) setEthtool(socket, name, SET_RX_CHECKSUMS, Number(rx));
  if (tx !== undefined) setEthtool(socket, name, SET_TX_CHECKSUMS, Number(tx));
}
