import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { parseFlags } from '#cmd/agent/flags.ts';
import { printConfig } from '#cmd/agent/print-config.ts';
import { readSettings } from '#cmd/agent/settings.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';

describe('--print-config', () => {
  const folder = mkdtempSync(join(tmpdir(), 'print-'));

  before(() => {
    writeFileSync(join(folder, 'govpp.conf'), `binapi-socket-path: ${folder}/absent.sock\n`);
    writeFileSync(
      join(folder, 'contiv.conf'),
      `mtusize: 1450\nstealInterface: eth1\nstnSocketFile: ${folder}/stn.sock\n` +
        'crdNodeConfigurationDisabled: false\nnodeConfig: [{nodeName: node1, gateway: 10.0.0.1}]\n',
    );
  });

  after(() => rmSync(folder, { recursive: true }));

  async function printed(...argv: string[]): Promise<string> {
    const flags = parseFlags(
      ['--print-config', `--config-dir=${folder}`, '--microservice-label=node1', ...argv],
      {},
    );
    assert.equal(flags.printConfig, true);
    const settings = readSettings(flags, {});
    let text = '';
    await printConfig({ settings, clock: systemClock, random: systemRandom }, (part) => {
      text += part;
    });
    return text;
  }

  it('is YAML with the origin of each value', async () => {
    const text = await printed();
    assert.match(text, /^mtuSize: 1450 +# .*contiv\.conf:1$/m);
    assert.match(text, /^thisNode\.gateway: 10\.0\.0\.1 +# .*contiv\.conf:5$/m);
    assert.match(text, /^useTAPInterfaces: true +# default$/m);
    const values = parse(text) as Record<string, unknown>;
    assert.equal(values['ipamConfig.podSubnetCIDR'], '10.1.0.0/16');
    assert.equal(values['ipamConfig.srv6.sfcEndLocalSIDSubnetCIDR'], '9310::/16');
  });

  it('shows the subnets that contivCIDR overrides', async () => {
    const file = join(folder, 'cidr.conf');
    writeFileSync(file, 'ipamConfig: {contivCIDR: 10.128.0.0/14, podSubnetCIDR: 10.9.0.0/16}\n');
    const text = await printed(`--contiv-config=${file}`);
    assert.match(text, /^ipamConfig\.contivCIDR: 10\.128\.0\.0\/14 +# .*cidr\.conf:1$/m);
    assert.match(
      text,
      /^ipamConfig\.podSubnetCIDR: 10\.128\.0\.0\/16 +# derived from contivCIDR$/m,
    );
    assert.match(text, /^ipamConfig\.vxlanCIDR: 10\.130\.2\.0\/23 +# derived from contivCIDR$/m);
  });

  it('lists unavailable sources', async () => {
    const text = await printed();
    assert.match(text, /^# unavailable: the NodeConfig resource: no etcd\.conf was found$/m);
    assert.match(text, /^# unavailable: VPP: no answer in 3000 ms$/m);
    assert.match(text, /^# unavailable: the STN daemon: .*stn\.sock/m);
  });
});
