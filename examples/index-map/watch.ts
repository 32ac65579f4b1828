/** Follows the data of another component, by callback and by channel: `node examples/index-map/watch.ts` */
import { type MappingEvent, silentLogger, systemClock, toChannel } from 'contiv-vswitch';
import { type Interface, Interfaces } from './interfaces.ts';

const text = ({ name, value, update, del }: MappingEvent<Interface>): string =>
  `${del ? 'deleted' : update ? 'changed' : 'added'} ${name} in VRF ${value.vrf}`;

const interfaces = new Interfaces();

// A callback runs within the call that makes the change.
const stop = interfaces.map.watch('example', (event) => console.log('callback:', text(event)));

// A channel keeps the changes for a reader that waits between them. Its changes expire after two seconds.
const changes = toChannel(interfaces.map, 'example-channel', {
  clock: systemClock,
  log: silentLogger,
});
async function read(): Promise<void> {
  for await (const event of changes) {
    console.log('channel:', text(event));
    if (event.del) return;
  }
}
const reading = read();

interfaces.configure('tap0', { vrf: 1, addresses: ['10.1.1.1'] });
interfaces.configure('tap0', { vrf: 2, addresses: ['10.1.1.1'] });
stop();
interfaces.remove('tap0');
await reading;
