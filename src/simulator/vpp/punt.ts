import { textOfBytes } from '#vpp/binapi/addresses.ts';
import type { Punt } from '#vpp/binapi/messages.gen.ts';
import type { Path } from './fib.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';
import { decodePath, encodePath, type RouteDependencies } from './routes.ts';

const UDP = 17;
const L4 = 0;
const NO_PORT = 0xffff;
/** Path of VPP's own punt socket, from its configuration. */
const SERVER_PATH = '/run/vpp/punt.sock';

interface Redirect {
  /** 0 for any. */
  readonly rx: number;
  readonly af: number;
  readonly paths: readonly Path[];
}

/** Punt: redirects and sockets for packets that are for the host. */
export function puntMessages(deps: RouteDependencies): MessageHandlers {
  const redirects = new Map<string, Redirect>();
  /** Paths of sockets by family and port. */
  const sockets = new Map<string, { readonly punt: Punt; readonly pathname: string }>();
  const socketKey = ({ type, punt }: Punt): string | undefined => {
    if (type !== L4 || !('l4' in punt)) return undefined;
    const { af, protocol, port } = punt.l4;
    return protocol === UDP && port !== NO_PORT ? `${af}/${port}` : undefined;
  };
  /** By family: number of adds minus deletes, including those without effect, as VPP counts. */
  const uses = [0, 0];

  const shown = ({ rx, af, paths }: Redirect) => ({
    punt: { rx_sw_if_index: rx === 0 ? NONE : rx, af, paths: paths.map(encodePath) },
  });

  return {
    requests: {
      add_del_ip_punt_redirect_v2: ({ is_add, punt }) => {
        if (punt.af > 1) return retval.INVALID_ADDRESS_FAMILY;
        const rx = punt.rx_sw_if_index === NONE ? 0 : punt.rx_sw_if_index;
        const paths: Path[] = [];
        for (const path of punt.paths) {
          const decoded = decodePath(deps, path);
          if (typeof decoded === 'number') return decoded;
          paths.push(decoded);
        }
        const key = `${punt.af}/${rx}`;
        uses[punt.af]! += is_add ? 1 : -1;
        if (is_add) redirects.set(key, { rx, af: punt.af, paths });
        else redirects.delete(key);
        return 0;
      },
      punt_socket_register: ({ header_version, punt, pathname }) => {
        const key = socketKey(punt);
        const isValid = key !== undefined && header_version === 1 && pathname !== SERVER_PATH;
        if (!isValid) return { retval: retval.UNSPECIFIED, pathname: SERVER_PATH };
        sockets.set(key, { punt, pathname });
        return { pathname: SERVER_PATH };
      },
      // VPP reports success even if the socket was not registered
      punt_socket_deregister: ({ punt }) => {
        sockets.delete(socketKey(punt) ?? '');
        return 0;
      },
    },
    dumps: {
      punt_socket_dump: ({ type }) => (type === L4 ? [...sockets.values()] : []),
      ip_punt_redirect_v2_dump: ({ sw_if_index, af }) =>
        [...redirects.values()]
          .filter((each) => each.af === af)
          .filter(({ rx }) => sw_if_index === NONE || rx === sw_if_index)
          .sort((a, b) => a.rx - b.rx)
          .map(shown),
    },
    snapshot: () => ({
      puntRedirects: [...redirects.values()]
        .map(({ rx, af, paths }) => {
          const from = rx === 0 ? 'any' : deps.interfaces.nameOf(rx);
          const to = paths.map(({ sw_if_index, nextHop }) => {
            const hop = textOfBytes(af === 1 ? nextHop : nextHop.subarray(0, 4));
            return `${hop} dev ${deps.interfaces.nameOf(sw_if_index)}`;
          });
          return `ipv${af === 1 ? 6 : 4} from ${from} via ${to}`;
        })
        .sort(),
      puntSockets: [...sockets].map(([key, { pathname }]) => `${key} ${pathname}`).sort(),
      puntRedirectOn: uses.map((count) => count > 0),
    }),
  };
}
