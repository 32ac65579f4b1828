/**
 *     npm run manifest
 *
 * Makes deploy/contiv-vswitch.yaml from the Helm chart. Needs helm, in the PATH or in KUBE_BIN.
 */
import { writeFileSync } from 'node:fs';
import { MANIFEST, renderManifest } from './lib/deploy/chart.ts';

writeFileSync(MANIFEST, renderManifest());
console.log(`written: ${MANIFEST}`);
