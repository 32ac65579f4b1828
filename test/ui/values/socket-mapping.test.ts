import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { socketServiceModel } from '#models/linux/socket-service.ts';
import { mappingsInWords } from '../../../ui/src/views/values/socket-mapping.ts';

const KEY = 'config/linux/socket/v2/service/shop/web';

describe('a service at sockets in words', () => {
  it('has the asked addresses, the backends with their shares, and the affinity', () => {
    const value = socketServiceModel.canonical({
      name: 'shop/web',
      mappings: [
        {
          frontends: [
            { address: '10.96.0.10', port: 80 },
            { address: '0.0.0.0', port: 30_080, scope: 'THIS_NODE' },
            { address: '0.0.0.0', port: 30_080, protocol: 'UDP', scope: 'OTHER_NODES' },
          ],
          backends: [
            { address: '10.1.1.2', port: 8080, weight: 3 },
            { address: '10.1.2.2', port: 8080, weight: 1 },
          ],
          affinity_timeout: 10_800,
          host_source: '172.16.0.5',
        },
        { frontends: [{ address: 'fd00::9', port: 80 }] },
      ],
    });
    assert.deepEqual(mappingsInWords(KEY, JSON.parse(JSON.stringify(value))), [
      {
        asked: [
          'any address of this node:30080 TCP',
          'any address of another node:30080 UDP',
          '10.96.0.10:80 TCP',
        ],
        backends: ['10.1.1.2:8080 (75 %)', '10.1.2.2:8080 (25 %)'],
        affinity: '10800 s for each pod',
        hostSource: '172.16.0.5',
      },
      {
        asked: ['[fd00::9]:80 TCP'],
        backends: ['no backend: refused'],
        affinity: 'none',
        hostSource: 'that of the link to VPP',
      },
    ]);
  });

  it('is for those values alone', () => {
    assert.equal(mappingsInWords('config/vpp/nat/v2/dnat44/shop/web', {}), undefined);
    assert.equal(mappingsInWords(KEY, null), undefined);
  });
});
