// What the server's Camunda 8 API answers, as far as more than one page reads it.

export interface Definition {
  processDefinitionKey: string;
  processDefinitionId: string;
  name: string | null;
  resourceName: string;
  version: number;
  versionTag: string | null;
  tenantId: string;
  hasStartForm: boolean;
}

export type InstanceState = "ACTIVE" | "COMPLETED" | "TERMINATED" | "SUSPENDED";

export interface Instance {
  processInstanceKey: string;
  processDefinitionId: string;
  processDefinitionKey: string;
  processDefinitionName: string | null;
  processDefinitionVersion: number;
  startDate: string | null;
  endDate: string | null;
  state: InstanceState;
  hasIncident: boolean;
  tenantId: string;
  parentProcessInstanceKey: string | null;
  tags: string[];
  businessId: string | null;
}

export interface ElementStatistics {
  elementId: string;
  active: number;
  canceled: number;
  incidents: number;
  completed: number;
}

export interface BatchOperation {
  batchOperationKey: string;
  state: string;
  batchOperationType: string;
  startDate: string | null;
  endDate: string | null;
  operationsTotalCount: number;
  operationsFailedCount: number;
  operationsCompletedCount: number;
}
