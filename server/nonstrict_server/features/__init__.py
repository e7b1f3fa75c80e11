"""One feature of the protocol per file; each has a function that registers it with a server."""

from __future__ import annotations

from nonstrict_server.features import (
    call_hierarchy,
    chain,
    code_actions,
    code_lens,
    commands,
    completion,
    configuration,
    contents,
    definition,
    documents,
    environment,
    experiments,
    folders,
    hover,
    inlay_hints,
    notebooks,
    progress,
    references,
    refreshing,
    region_map,
    verdicts,
    watched_files,
)

#: Registered for every client; diagnostics are pulled or published, as the client can.
ALWAYS = (
    documents.register,
    notebooks.register,
    configuration.register,
    folders.register,
    watched_files.register,
    progress.register,
    refreshing.register,
    code_actions.register,
    hover.register,
    completion.register,
    code_lens.register,
    inlay_hints.register,
    definition.register,
    references.register,
    commands.register,
    contents.register,
    chain.register,
    call_hierarchy.register,
    region_map.register,
    verdicts.register,
    experiments.register,
    environment.register,
)
