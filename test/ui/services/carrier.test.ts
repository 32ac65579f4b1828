import assert from 'node:assert/strict';
import { it } from 'node:test';
import { cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { carrierOf } from '../../../ui/src/views/services/carrier.ts';

it('names what carries a service by the key of its value', () => {
  assert.equal(carrierOf(`${cnatTranslationModel.keyPrefix}TCP/2001:db8::1/80`), 'cnat');
  assert.equal(carrierOf('config/vpp/nat/v2/dnat44/default/web'), 'NAT44');
  assert.equal(carrierOf('config/linux/socket-services/v1/service/default/web'), 'sockets');
});
