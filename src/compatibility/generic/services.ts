/**
 * The generic services of ligato: the models of the agent, and its values. agentctl asks for the models
 * before it reads anything by REST.
 */
import { type handleServerStreamingCall, status } from '@grpc/grpc-js';
import type { Clock } from '#infra/clock/clock.ts';
import type { GrpcService } from '#infra/grpc/connection-server.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import {
  ManagerServiceService as manager,
  MetaServiceService as meta,
  type ProtoFileDescriptorResponse,
} from '#models/generic/generic.gen.ts';
import type { ServiceMethod } from '#models/message.ts';
import { methodDefinition } from '#models/method-definition.ts';
import type { DeepInput } from '#models/model.ts';
import { configModels } from '#models/registry.ts';
import { fileDescriptor, importedFiles } from './file-descriptor.ts';
import { modelDetails } from './model-details.ts';
import { type ConfigSink, setConfig } from './set-config.ts';
import { CallError, type UnaryAnswer, unaryHandler } from './unary-handler.ts';
import { configItems, stateItems } from './value-items.ts';

export interface GenericServiceDeps {
  readonly scheduler: Scheduler;
  /** undefined: values cannot be set. */
  readonly sink: ConfigSink | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export function genericServices(deps: GenericServiceDeps): readonly GrpcService[] {
  const { scheduler, sink, clock, log } = deps;
  const handle = <Request extends object, Response extends object>(
    method: ServiceMethod<Request, Response>,
    answer: UnaryAnswer<Request, Response>,
  ) => unaryHandler(method, answer, log);
  return [
    {
      definition: {
        KnownModels: methodDefinition(meta.KnownModels),
        ProtoFileDescriptor: methodDefinition(meta.ProtoFileDescriptor),
      },
      implementation: {
        KnownModels: handle(meta.KnownModels, (request) => ({
          known_models: modelDetails(request.class),
        })),
        ProtoFileDescriptor: handle(meta.ProtoFileDescriptor, (request) =>
          protoFile(request.full_proto_file_name),
        ),
      },
    },
    {
      definition: {
        SetConfig: methodDefinition(manager.SetConfig),
        GetConfig: methodDefinition(manager.GetConfig),
        DumpState: methodDefinition(manager.DumpState),
        Subscribe: { ...methodDefinition(manager.Subscribe), responseStream: true },
      },
      implementation: {
        SetConfig: handle(manager.SetConfig, (request) => {
          if (sink) return setConfig(request, sink, scheduler);
          throw new CallError(status.UNIMPLEMENTED, 'this agent has no store for such values');
        }),
        GetConfig: handle(manager.GetConfig, async (request) => ({
          items: await configItems(scheduler, request, clock),
        })),
        DumpState: handle(manager.DumpState, async (request) => ({
          items: await stateItems(scheduler, request, clock),
        })),
        Subscribe: subscribe,
      },
    },
  ];
}

function protoFile(name: string): DeepInput<ProtoFileDescriptorResponse> {
  const model = configModels.find(({ file }) => file.name === name);
  if (!model) throw new CallError(status.NOT_FOUND, `no model is declared in ${name}`);
  const { root } = model.reflection();
  return {
    file_descriptor: fileDescriptor(model.file, root),
    file_import_descriptors: {
      file: importedFiles(model.file).map((file) => fileDescriptor(file, root)),
    },
  };
}

const subscribe: handleServerStreamingCall<object, object> = (call) => {
  call.emit('error', {
    code: status.UNIMPLEMENTED,
    details: 'Subscribe is not implemented: watch /vnf-agent/<label>/config-status/ in etcd',
  });
};
