/** A DHCP server in a namespace: dnsmasq without DNS and without a lease file. */
import { join } from 'node:path';
import { Background } from './background.ts';
import { enter } from './netns.ts';
import type { Endpoint } from './traffic.ts';

export class DhcpServer {
  readonly #process: Background;

  /**
   * Leases addresses of a /24 and announces itself as the router.
   * @param first last byte of the first address, of ten
   */
  static start(place: Endpoint, device: string, folder: string, first: number): DhcpServer {
    return new DhcpServer(place, device, folder, first);
  }

  private constructor(place: Endpoint, device: string, folder: string, first: number) {
    const network = place.address.split('.').slice(0, 3).join('.');
    this.#process = new Background(
      [
        ...enter(place.path),
        'dnsmasq',
        '--keep-in-foreground',
        '--conf-file=/dev/null',
        '--pid-file=',
        '--user=root',
        '--port=0',
        `--interface=${device}`,
        '--bind-interfaces',
        '--no-ping',
        '--dhcp-authoritative',
        '--leasefile-ro',
        `--dhcp-range=${network}.${first},${network}.${first + 9},255.255.255.0,2m`,
        `--dhcp-option=option:router,${place.address}`,
        '--log-dhcp',
        '--log-facility=-',
      ],
      { log: join(folder, 'dnsmasq.log') },
    );
  }

  assertRunning(): void {
    this.#process.assertRunning();
  }

  tail(): string {
    return this.#process.tail();
  }

  async end(): Promise<void> {
    await this.#process.end('SIGKILL');
  }
}
