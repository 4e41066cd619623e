"""What there is to be seen of a stored result, on its card; needs no Qt: documents show it too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from presentation.panels.conversation.charts import Chart, stored_chart
from presentation.panels.conversation.items import OperationCard, SimulationCard, result_folder
from presentation.panels.conversation.study_charts import StudyPicture, stored_study
from shared import paths

if TYPE_CHECKING:
    from application.simulation.waveforms import LoadWaveforms


async def stored_picture(
    waveforms: LoadWaveforms, root: Path, card: OperationCard | SimulationCard
) -> Chart | StudyPicture | None:
    """What there is to be seen of a card's stored result."""
    result = result_folder(root, card) / paths.RESULT_FILE
    is_study = isinstance(card, OperationCard)
    return await (stored_study(waveforms, result) if is_study else stored_chart(waveforms, result))


def with_picture(
    card: OperationCard | SimulationCard, picture: Chart | StudyPicture | None
) -> OperationCard | SimulationCard:
    if isinstance(card, OperationCard):
        return replace(card, study=picture if isinstance(picture, StudyPicture) else None)
    return replace(card, chart=picture if isinstance(picture, Chart) else None)
