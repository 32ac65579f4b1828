// The generated cases of cyclonus, with one request for all probes of a pod. The published program has this way
// switched off: it starts a process in a container for each of 324 probes, which takes a minute a step.
package main

import (
	"flag"
	"fmt"

	"github.com/mattfenwick/cyclonus/pkg/connectivity"
	"github.com/mattfenwick/cyclonus/pkg/connectivity/probe"
	"github.com/mattfenwick/cyclonus/pkg/generator"
	"github.com/mattfenwick/cyclonus/pkg/kube"
	"github.com/mattfenwick/cyclonus/pkg/utils"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	podSeconds = 120
	// From a change to its probes; a step that fails is probed once more.
	settleSeconds = 1
	// A pod need not reach itself.
	ignoreLoopback = true
	allowDNS       = true
)

func main() {
	junit := flag.String("junit", "", "file for the report")
	flag.Parse()

	client, err := kube.NewKubernetesForContext("")
	utils.DoOrDie(err)
	// Five requests a second, the default, are eight seconds for the objects that each case reads and sets back.
	client.RestConfig.QPS, client.RestConfig.Burst = 100, 200
	client.ClientSet, err = kubernetes.NewForConfig(client.RestConfig)
	utils.DoOrDie(err)
	namespaces, pods := []string{"x", "y", "z"}, []string{"a", "b", "c"}
	ports, protocols := []int{80, 81}, []v1.Protocol{v1.ProtocolTCP, v1.ProtocolUDP}
	resources, err := probe.NewDefaultResources(client, namespaces, pods, ports, protocols, nil, podSeconds, true, "")
	utils.DoOrDie(err)
	last, err := resources.GetPod("z", "c")
	utils.DoOrDie(err)

	cases := generator.NewTestCaseGenerator(allowDNS, last.IP, namespaces, nil, nil).GenerateTestCases()
	interpreter := connectivity.NewInterpreter(client, resources, &connectivity.InterpreterConfig{
		ResetClusterBeforeTestCase:       true,
		VerifyClusterStateBeforeTestCase: true,
		KubeProbeRetries:                 1,
		PerturbationWaitSeconds:          settleSeconds,
		BatchJobs:                        true,
		IgnoreLoopback:                   ignoreLoopback,
	})
	printer := &connectivity.Printer{IgnoreLoopback: ignoreLoopback, JunitResultsFile: *junit}
	for i, testCase := range cases {
		fmt.Printf("case %d of %d: %s\n", i+1, len(cases), testCase.Description)
		for _, step := range testCase.Steps {
			// A policy may deny DNS, and pods that a case creates have no service yet.
			step.Probe.Mode = generator.ProbeModePodIP
		}
		result := interpreter.ExecuteTestCase(testCase)
		utils.DoOrDie(result.Err)
		printer.PrintTestCaseResult(result)
	}
	printer.PrintSummary()
	for _, namespace := range namespaces {
		utils.DoOrDie(client.DeleteNamespace(namespace))
	}
}
