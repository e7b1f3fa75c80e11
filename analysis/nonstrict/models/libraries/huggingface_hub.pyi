"""What `huggingface_hub` does: its API reference."""

from nonstrict.models import does

@does.io("downloads from the network")
def hf_hub_download(*args): ...

login = snapshot_download = upload_file = hf_hub_download
