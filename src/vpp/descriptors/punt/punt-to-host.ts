import { allOrNothing } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KeyedValue, KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { type PuntToHost, puntToHostModel } from '#models/vpp/punt-to-host.ts';
import { AddressFamily, PuntType } from '../../binapi/enums.gen.ts';
import type { Punt } from '../../binapi/messages.gen.ts';
import {
  type AddressFamilyName,
  attributeByFamily,
  familiesOf,
  familyNumbers,
} from '../address-family.ts';
import type { VppDescriptorOptions } from '../options.ts';

const UDP = 17;
const HEADER_VERSION = 1;
/** VPP uses the highest one for "no port". */
const MAX_PORT = 65_534;
/** Bytes of a socket's path, with the terminating zero. */
const PATH_SIZE = 108;

/** A socket that is registered with VPP. */
interface Socket {
  readonly family: AddressFamilyName;
  readonly port: number;
  readonly path: string;
}

function identity({ family, port, path }: Socket): string {
  return `${family} ${port} ${path}`;
}

function puntOf(family: AddressFamilyName, port: number): Punt {
  return {
    type: PuntType.PUNT_API_TYPE_L4,
    punt: { l4: { af: familyNumbers[family], protocol: UDP, port } },
  };
}

/**
 * UDP packets to a port of VPP's own addresses are sent to a socket of the host. VPP has one socket per
 * family and port. A deregistration frees the port even if another node of VPP uses it, so it is sent
 * only if a socket is registered.
 */
export function puntToHostDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<PuntToHost, undefined> {
  const sockets = async (): Promise<readonly Socket[]> => {
    const found = await client.dump('punt_socket_dump', { type: PuntType.PUNT_API_TYPE_L4 });
    return found.flatMap(({ punt: { punt }, pathname: path }) => {
      if (!('l4' in punt) || punt.l4.protocol !== UDP) return [];
      const { af, port } = punt.l4;
      return [{ family: af === AddressFamily.ADDRESS_IP6 ? 'IPV6' : 'IPV4', port, path }] as const;
    });
  };
  const register = (
    family: AddressFamilyName,
    { port, socket_path }: PuntToHost,
  ): Promise<unknown> =>
    client.request('punt_socket_register', {
      header_version: HEADER_VERSION,
      punt: puntOf(family, port),
      pathname: socket_path,
    });
  const deregister = async (family: AddressFamilyName, port: number): Promise<void> => {
    const isThere = (await sockets()).some((each) => each.family === family && each.port === port);
    if (isThere) await client.request('punt_socket_deregister', { punt: puntOf(family, port) });
  };

  return defineDescriptor('vpp-punt-to-host', puntToHostModel, {
    validate(key, value) {
      checkField(key, value.l3_protocol !== 'UNDEFINED_L3', 'l3_protocol', 'missing');
      checkField(key, value.l4_protocol === 'UDP', 'l4_protocol', 'VPP supports UDP only');
      const isPort = value.port > 0 && value.port <= MAX_PORT;
      checkField(key, isPort, 'port', `must be from 1 to ${MAX_PORT}`);
      checkField(key, value.socket_path !== '', 'socket_path', 'missing');
      const fits = Buffer.byteLength(value.socket_path) < PATH_SIZE;
      checkField(key, fits, 'socket_path', `longer than ${PATH_SIZE - 1} bytes`);
    },
    claims: (_key, value) =>
      familiesOf(value.l3_protocol).map((family) => `punt/${family}/${value.port}`),
    create: (_key, value) =>
      allOrNothing(log, async (undo) => {
        for (const family of familiesOf(value.l3_protocol)) {
          await register(family, value);
          undo.add(() => deregister(family, value.port));
        }
        return undefined;
      }),
    async delete(_key, value) {
      for (const family of familiesOf(value.l3_protocol)) await deregister(family, value.port);
    },
    async retrieve(correlate) {
      if (!client.has('punt_socket_dump')) return [];
      const found = new Map((await sockets()).map((each) => [identity(each), each]));
      const { values, left } = attributeByFamily(
        found.keys(),
        correlate,
        partsOf,
        (value, l3_protocol) => puntToHostModel.canonical({ ...value, l3_protocol }),
      );
      const others = [...left].flatMap((part) => unmatched(found.get(part)));
      return [...values, ...others].map((each) => ({ ...each, origin: 'from-NB' as const }));
    },
  });
}

function partsOf({
  l3_protocol,
  port,
  socket_path: path,
}: PuntToHost): ReadonlyMap<AddressFamilyName, string> {
  return new Map(
    familiesOf(l3_protocol).map((family) => [family, identity({ family, port, path })]),
  );
}

/** A socket that belongs to no value. */
function unmatched(found: Socket | undefined): readonly KeyedValue<PuntToHost>[] {
  if (found === undefined) return [];
  const value = puntToHostModel.canonical({
    l3_protocol: found.family,
    l4_protocol: 'UDP',
    port: found.port,
    socket_path: found.path,
  });
  return [{ key: puntToHostModel.key(value), value }];
}
