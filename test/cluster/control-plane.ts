/**
 * etcd, API server, controllers and scheduler of Kubernetes, as processes of the first node's host, where
 * kubeadm has them, too. Clients identify themselves by tokens, which a file gives to the API server.
 */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { makeCertificate } from '#test/support/certificates.ts';
import { until } from '#test/support/wait.ts';
import { type AddressFamily, networksOf } from './address-family.ts';
import { startDetached, stopDetached } from './detached-process.ts';
import { folderOf } from './folder.ts';
import { type GoProgramName, programPath } from './go-programs.ts';
import {
  API_PORT,
  authorityFile,
  controlPlaneFile as file,
  kubeconfig,
  serverCertificate,
  tokenFile,
} from './kubeconfig.ts';
import { kubectl } from './kubectl.ts';
import { enterNetns, hostAddress, netnsOf } from './network.ts';
import type { ClusterSettings } from './settings.ts';

const ETCD = '127.0.0.1:2379';
/** It needs 5 s of CPU, on a machine that may be busy. */
const READY_LIMIT_MS = 180_000;

/** Resolves when the API server answers. */
export async function startControlPlane({ nodes, families }: ClusterSettings): Promise<void> {
  const [primary] = families as [AddressFamily];
  const serviceSubnets = families.map((family) => networksOf[family].serviceSubnet).join();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(file('accounts.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const folder = folderOf('run/control-plane');
  makeCertificate(folder, 'authority', 'authority');
  makeCertificate(folder, 'kube-apiserver-kubelet-client', 'authority');

  run('etcd', [
    '--name=kubernetes',
    `--data-dir=${file('etcd')}`,
    `--listen-client-urls=http://${ETCD}`,
    `--advertise-client-urls=http://${ETCD}`,
    '--listen-peer-urls=http://127.0.0.1:2380',
    // It lives as long as the tests.
    '--unsafe-no-fsync',
    '--quota-backend-bytes=4000000000',
    '--log-level=warn',
  ]);
  run('kube-apiserver', [
    `--etcd-servers=http://${ETCD}`,
    `--advertise-address=${hostAddress(1, primary)}`,
    `--secure-port=${API_PORT}`,
    `--cert-dir=${folder}`,
    `--token-auth-file=${tokenFile(nodes)}`,
    `--kubelet-client-certificate=${file('kube-apiserver-kubelet-client.crt')}`,
    `--kubelet-client-key=${file('kube-apiserver-kubelet-client.key')}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${file('accounts.key')}`,
    `--service-account-signing-key-file=${file('accounts.key')}`,
    `--service-cluster-ip-range=${serviceSubnets}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    '--v=1',
  ]);
  await until('the API server is ready', isReady, READY_LIMIT_MS);
  run('kube-controller-manager', [
    ...asClient('kube-controller-manager'),
    `--root-ca-file=${serverCertificate()}`,
    `--service-account-private-key-file=${file('accounts.key')}`,
    `--cluster-signing-cert-file=${authorityFile()}`,
    `--cluster-signing-key-file=${file('authority.key')}`,
    '--use-service-account-credentials=true',
    `--service-cluster-ip-range=${serviceSubnets}`,
    '--leader-elect=false',
    '--kube-api-qps=100',
    '--kube-api-burst=150',
    '--v=1',
  ]);
  run('kube-scheduler', [...asClient('kube-scheduler'), '--leader-elect=false', '--v=1']);
}

function asClient(name: string): string[] {
  const path = kubeconfig(name);
  return [
    `--kubeconfig=${path}`,
    `--authentication-kubeconfig=${path}`,
    `--authorization-kubeconfig=${path}`,
  ];
}

function isReady(): boolean {
  if (!existsSync(serverCertificate())) return false;
  try {
    return kubectl('get', '--raw=/readyz') === 'ok';
  } catch {
    return false;
  }
}

const processes = ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd'] as const;

export async function stopControlPlane(): Promise<void> {
  for (const name of processes) await stopDetached(name, 'SIGTERM');
}

function run(name: GoProgramName, flags: readonly string[]): void {
  startDetached(name, [...enterNetns(netnsOf(1)), programPath(name), ...flags]);
}
