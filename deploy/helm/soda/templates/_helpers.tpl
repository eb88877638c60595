{{- define "soda.url" -}}
{{ if .Values.master.tlsSecretName }}https{{ else }}http{{ end }}://{{ .Release.Name }}-master.{{ .Release.Namespace }}.svc:18890
{{- end }}

{{- define "soda.labels" -}}
app.kubernetes.io/name: soda
app.kubernetes.io/instance: {{ quote .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "soda.hardened" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "soda.user" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* A number of a values file is a float: quote would write 1048576 as 1.048576e+06. */}}
{{- define "soda.text" -}}
{{- if kindIs "float64" . }}{{ toJson . | quote }}{{ else }}{{ quote . }}{{ end }}
{{- end }}
