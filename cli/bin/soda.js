#!/usr/bin/env node
// The command itself is compiled; this file is here before that, so that it can be linked.
import '../dist/soda.js';
