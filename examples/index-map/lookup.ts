/** Reads the data of another component, by name and by secondary index: `node examples/index-map/lookup.ts` */
import { Interfaces } from './interfaces.ts';

const interfaces = new Interfaces();
interfaces.configure('tap0', { vrf: 1, addresses: ['10.1.1.1', '10.1.1.2'] });
interfaces.configure('tap1', { vrf: 1, addresses: ['10.1.1.3'] });
interfaces.configure('loop0', { vrf: 0, addresses: [] });

const { map } = interfaces;
console.log('tap0:', map.getValue('tap0'));
console.log('tap9:', map.getValue('tap9'));
console.log('of 10.1.1.3:', map.listNames('address', '10.1.1.3'));
console.log('in VRF 1:', map.listNames('vrf', '1').sort());
console.log('indexes of tap1:', map.listFields('tap1'));

// an index follows the value
interfaces.configure('tap1', { vrf: 2, addresses: ['10.1.1.4'] });
console.log('in VRF 1:', map.listNames('vrf', '1'));
console.log('of 10.1.1.3:', map.listNames('address', '10.1.1.3'));
