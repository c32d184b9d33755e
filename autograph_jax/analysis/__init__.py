"""Facts about a tree: what it reads and writes, what is live, what may be unbound, what may be the same object."""

from autograph_jax.analysis.activity import free_names as free_names
from autograph_jax.analysis.activity import nonlocal_writes as nonlocal_writes
from autograph_jax.analysis.activity import own_variables as own_variables
from autograph_jax.analysis.activity import reads as reads
from autograph_jax.analysis.activity import writes as writes
from autograph_jax.analysis.deciding import deciding_names as deciding_names
from autograph_jax.analysis.facts import Facts as Facts
from autograph_jax.analysis.facts import NameFacts as NameFacts
from autograph_jax.analysis.facts import analyse as analyse
from autograph_jax.analysis.facts import analyse_names as analyse_names
