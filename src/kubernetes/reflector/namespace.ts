import { type Namespace, namespaceModel } from '../models/namespace.ts';
import { labelList } from './labels.ts';
import type { KubeNamespace } from './objects/cluster.ts';

export function namespaceValue({ metadata }: KubeNamespace): Namespace {
  return namespaceModel.canonical({ name: metadata.name, label: labelList(metadata.labels) });
}
