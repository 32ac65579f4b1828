import type { Fib } from './fib.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import type { Nat44 } from './nat44.ts';
import { retval } from './retval.ts';

export const SIMULATED_VERSION = '26.06-simulated';

/** Ping, version, and a few CLI commands. */
export function sessionMessages(interfaces: Interfaces, fib: Fib, nat: Nat44): MessageHandlers {
  const state = ({ adminUp }: { adminUp: boolean }) => (adminUp ? 'up' : 'down');
  const commands: Record<string, () => string> = {
    'show version': () => `vpp v${SIMULATED_VERSION}\n`,
    'show interface': () =>
      interfaces
        .all()
        .map((iface) => {
          const mtu = iface.mtu.join('/');
          return `${iface.name.padEnd(34)}${iface.index}  ${state(iface).padEnd(6)}${mtu}\n`;
        })
        .join(''),
    'show hardware-interfaces': () =>
      interfaces
        .all()
        .map((iface) => `${iface.name}  ${iface.deviceType}  ${iface.mac}\n`)
        .join(''),
  };
  const tables = () => fib.tables.filter(({ family }) => family === 4);
  commands['show ip table'] = () =>
    tables()
      .map(({ id, name }, index) => `[${index}] table_id:${id} ${name}\n`)
      .join('');
  commands['show nat44 summary'] = () =>
    tables()
      .map(({ id }, index) => {
        const limit = nat.limitOf(id);
        return limit === undefined ? '' : `max translations per thread: ${limit} fib ${index}\n`;
      })
      .join('');
  // It counts nothing and has no buffers; GET /vpp/telemetry asks for these.
  for (const nothing of ['node counters', 'runtime', 'buffers', 'memory', 'ip fib', 'ip6 fib'])
    commands[`show ${nothing}`] = () => 'not simulated\n';
  // no variants of code; the agent asks with enableGSO
  commands['show node gso-ip4'] = () => 'not simulated\n';
  // the agent asks with WireGuard
  commands['show crypto handlers'] = () => 'chacha20-poly1305  enc  simulated*\n';
  return {
    requests: {
      control_ping: () => ({ vpe_pid: 1 }),
      show_version: () => ({
        program: 'vpe',
        version: SIMULATED_VERSION,
        build_date: '',
        build_directory: '',
      }),

      cli_inband: ({ cmd }) => {
        const words = cmd.trim().replaceAll(/\s+/g, ' ');
        const command = commands[words];
        if (command) return { reply: command() };
        const [, name, to] = /^set interface state (\S+) (up|down)$/.exec(words) ?? [];
        const found = interfaces.all().find((one) => one.name === name);
        if (found) {
          interfaces.setAdmin(found, to === 'up');
          return { reply: '' };
        }
        return { retval: retval.UNSPECIFIED, reply: `unknown input \`${cmd}'` };
      },
    },
  };
}
