import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { ipFamily, parseIp, unspecifiedOf } from '#models/ip.ts';
import {
  type SocketService,
  type SocketServiceMapping,
  socketServiceModel,
} from '#models/linux/socket-service.ts';
import * as table from '../socket-services/api.ts';

/** Slots of a mapping are reserved in whole: one large mapping must not take the place of the others. */
const MAX_WEIGHT = 255;

/** Services that the kernel translates at sockets. The table is the agent's alone: all in it is managed. */
export function socketServiceDescriptor(
  services: table.SocketTable,
): KvDescriptor<SocketService, undefined> {
  const put = async (value: SocketService): Promise<undefined> => {
    await services.put(toTable(value));
  };
  return defineDescriptor('linux-socket-service', socketServiceModel, {
    validate,
    equivalent: (_key, a, b) => JSON.stringify(reduced(a)) === JSON.stringify(reduced(b)),
    claims: (_key, { mappings }) => mappings.flatMap(claimsOf),
    create: (_key, value) => put(value),
    update: (_key, _before, after) => put(after),
    async delete(_key, value) {
      await services.delete(value.name);
    },
    async retrieve(_correlate, ctx) {
      const found = await services.services();
      const what = services.lostParts().join('; ');
      if (what !== '')
        ctx.leftover({ name: 'programs', what, precedes: [], remove: () => services.restore() });
      return found.map((one) => {
        const value = fromTable(one);
        return { key: socketServiceModel.key(value), value, origin: 'from-NB' as const };
      });
    },
  });
}

function claimsOf({ frontends }: SocketServiceMapping): string[] {
  return frontends.map(
    ({ address, port, protocol, scope }) => `socket/${scope}/${protocol}/${address}/${port}`,
  );
}

export function toTable({ name, mappings }: SocketService): table.SocketService {
  return {
    name,
    mappings: mappings.map(({ affinity_timeout, host_source, ...one }) => ({
      ...one,
      affinityTimeout: affinity_timeout,
      hostSource: host_source,
    })),
  };
}

function fromTable({ name, mappings }: table.SocketService): SocketService {
  return socketServiceModel.canonical({
    name,
    mappings: mappings.map(({ affinityTimeout, hostSource, frontends, backends }) => ({
      frontends: [...frontends],
      backends: [...backends],
      affinity_timeout: affinityTimeout,
      host_source: hostSource,
    })),
  });
}

function reduced({ mappings }: SocketService): readonly SocketServiceMapping[] {
  return mappings.map((one) => ({ ...one, backends: [...table.reduceWeights(one.backends)] }));
}

function validate(key: string, { name, mappings }: SocketService): void {
  const isShort = Buffer.byteLength(name) <= table.MAX_NAME_LENGTH;
  checkField(key, name !== '' && isShort, 'name', `has 1 to ${table.MAX_NAME_LENGTH} bytes`);
  checkField(key, !name.includes('\0'), 'name', 'must not have a zero byte');
  const addresses = mappings.flatMap(claimsOf);
  checkField(key, new Set(addresses).size === addresses.length, 'frontends', 'must differ');
  for (const { frontends, backends, host_source } of mappings) {
    checkField(key, frontends.length > 0, 'frontends', 'missing');
    const sources = host_source === '' ? [] : [{ address: host_source }];
    const families = [...frontends, ...backends, ...sources].map(({ address }) =>
      familyOf(address),
    );
    checkField(key, !families.includes(undefined), 'address', 'missing');
    checkField(key, new Set(families).size === 1, 'address', 'all must be of one family');
    for (const { address, scope } of frontends) {
      const isOfNodes = address === unspecifiedOf(address);
      checkField(key, isOfNodes === (scope !== 'ADDRESS'), 'scope', 'nodes have no own address');
    }
    for (const { port } of [...frontends, ...backends])
      checkField(key, port >= 1 && port <= 65_535, 'port', 'must be from 1 to 65535');
    for (const { weight } of backends)
      checkField(key, weight >= 1 && weight <= MAX_WEIGHT, 'weight', 'must be from 1 to 255');
    const ends = backends.map(({ address, port }) => `${address} ${port}`);
    checkField(key, new Set(ends).size === ends.length, 'backends', 'must differ');
  }
}

function familyOf(address: string): number | undefined {
  const bytes = parseIp(address);
  return bytes && ipFamily(bytes);
}
